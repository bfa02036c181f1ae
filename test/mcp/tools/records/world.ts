/** Tools called with a key, on a service of each engine. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { callTool, keyHeaders, masterHeaders, type ToolAnswer, useTool } from '../../../support/mcp.ts';
import { assertClean, type Json, type Store, useStore } from '../../../support/records.ts';
import { engines } from '../../../support/service.ts';

export interface Tools extends Store {
  /** A call that must succeed; answers its JSON. */
  use(name: string, args?: object): Promise<Json>;
  /** The same with the master key. */
  useAsMaster(name: string, args?: object): Promise<Json>;
  /** A call that must be refused by the code, in words that fit; answers its structured content. */
  refused(name: string, args: object, code: number, words: RegExp): Promise<Json>;
}

/** Runs a suite on every engine. */
export function onEachEngine(title: string, suite: (tools: Tools) => void): void {
  for (const engine of engines) {
    describe(`${title} (${engine})`, () => {
      const store = useStore(engine);
      suite({
        ...store,
        use: (name, args = {}) => useTool(store.service(), keyHeaders(store.service()), name, args),
        useAsMaster: (name, args = {}) => useTool(store.service(), masterHeaders(store.service()), name, args),
        async refused(name, args, code, words) {
          const answer = await callTool(store.service(), keyHeaders(store.service()), name, args);
          return assertToolRefused(answer, code, words);
        },
      });
    });
  }
}

/** Insists on an error result with the code, and on nothing of the inside in it. */
export function assertToolRefused(answer: ToolAnswer, code: number, words: RegExp): Json {
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
