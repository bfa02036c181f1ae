import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { ImportJobs, MAX_ARRIVING } from './import-jobs.ts';

test('bodies of the same moment are counted before the store is asked', { timeout: 5_000 }, async () => {
  /** Takes for ever. */
  const keep = () => new Promise(() => {});
  const jobs = new ImportJobs({ files: { keep } } as never);
  const store = { schema: () => ({ tables: new Map() }) };
  const add = () => jobs.add({ appId: 'a', store } as never, {} as never, {} as never, Readable.from([]));
  for (let n = 0; n < MAX_ARRIVING; n++) void add();
  await assert.rejects(add(), { key: 'tooManyRequests' });
});
