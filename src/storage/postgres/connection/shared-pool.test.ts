import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Row } from './database.ts';
import type { Link } from './pipelined-connection.ts';
import { answers, type SharedLinks } from './shared-pool.ts';

const heard = (link: Link | undefined) => ({ heardSince: () => link }) as unknown as SharedLinks;

test('a question that stands behind others is answered where these are, and waits where nothing is heard', async () => {
  const { promise, resolve } = Promise.withResolvers<Row[]>();
  const asked = { short: () => promise };
  await answers(asked, heard({} as Link));
  let isAnswered = false;
  const silent = answers(asked, heard(undefined)).then(() => {
    isAnswered = true;
  });
  await wait(700);
  assert.equal(isAnswered, false);
  resolve([]);
  await silent;
  await assert.rejects(answers({ short: () => Promise.reject(new Error('away')) }, heard({} as Link)), { message: 'away' });
});
