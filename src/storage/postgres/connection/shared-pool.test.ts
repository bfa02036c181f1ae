import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Row } from './database.ts';
import type { PipelinedConnection } from './pipelined-connection.ts';
import { type SharedPool, whenAnswering } from './shared-pool.ts';

const heard = (link: PipelinedConnection | undefined) => ({ receivedSince: () => link }) as unknown as SharedPool;

test('a question that stands behind others is answered where these are, and waits where nothing is heard', async () => {
  const { promise, resolve } = Promise.withResolvers<Row[]>();
  const database = { short: () => promise };
  await whenAnswering(database, heard({} as PipelinedConnection));
  let isAnswered = false;
  const silent = whenAnswering(database, heard(undefined)).then(() => {
    isAnswered = true;
  });
  await wait(700);
  assert.equal(isAnswered, false);
  resolve([]);
  await silent;
  await assert.rejects(whenAnswering({ short: () => Promise.reject(new Error('away')) }, heard({} as PipelinedConnection)), {
    message: 'away',
  });
});
