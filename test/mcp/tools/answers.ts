/** Assertions about the answers of tools. */
import assert from 'node:assert/strict';
import type { ToolAnswer } from '../../support/mcp.ts';
import { assertClean, type Json } from '../../support/records.ts';

/** Asserts an error result with the code and a matching text that shows no internals; returns its structured content. */
export function assertToolRefused(answer: ToolAnswer, code: number, words: RegExp = /./): Json {
  assert.equal(answer.status, 200);
  assert.ok(answer.isError, answer.text.slice(0, 300));
  assert.equal(answer.json?.code, code, answer.text.slice(0, 300));
  assert.match(answer.text, words);
  assertClean(answer);
  return answer.json;
}

/** Returns the size of an answer as JSON. */
export const bytesOf = (value: Json): number => Buffer.byteLength(JSON.stringify(value));

/** Maximum size of an answer. */
export const MAX_BYTES = 61_000;
