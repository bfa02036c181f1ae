/** What is asked of the answers of tools. */
import assert from 'node:assert/strict';
import type { ToolAnswer } from '../../support/mcp.ts';
import { assertClean, type Json } from '../../support/records.ts';

/** Insists on an error result with the code, in words that fit, and on nothing of the inside in it; answers its structured content. */
export function assertToolRefused(answer: ToolAnswer, code: number, words: RegExp = /./): Json {
  assert.equal(answer.status, 200);
  assert.ok(answer.isError, answer.text.slice(0, 300));
  assert.equal(answer.json?.code, code, answer.text.slice(0, 300));
  assert.match(answer.text, words);
  assertClean(answer);
  return answer.json;
}

/** Bytes of an answer as JSON. */
export const bytesOf = (value: Json): number => Buffer.byteLength(JSON.stringify(value));

/** Bytes that an answer may have. */
export const MOST_BYTES = 61_000;
