import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isInDoubt, isUnavailable } from '../../../errors/fail.ts';
import { ConditionFailed } from '../../port.ts';
import { rowContext } from '../../sql/testing/addresses.ts';
import { changeSchemaOnThread } from './schema-change.ts';

/** What a thread does instead of a schema change. */
const thread = (code: string) =>
  changeSchemaOnThread(
    { path: '', plan: { changes: [], mutations: [] }, catalogVersion: 0, addresses: rowContext.addresses() },
    new URL(
      `data:text/javascript,${encodeURIComponent(`import { parentPort, workerData } from 'node:worker_threads'; ${code}`)}`,
    ),
  );
const says = (answer: object | string) => `parentPort.postMessage(${JSON.stringify(answer)});`;
const committing = 'Atomics.store(workerData.isCommitting, 0, 1);';

test('a thread answers with the outcome, or with why there is none', async () => {
  assert.deepEqual(await thread(committing + says({ outcome: { returned: '' } })), { returned: '' });
  await assert.rejects(thread(says('overtaken')), ConditionFailed);
  const full = { key: 'unavailable', text: 'x', cause: { text: 'database or disk is full', errcode: 13 } };
  await assert.rejects(thread(says(full)), isUnavailable);
});

test('one that ends in its COMMIT leaves it open whether the change was carried out', async () => {
  await assert.rejects(thread(`${committing} throw new Error('x');`), isInDoubt);
  await assert.rejects(thread(`${committing} process.exit(1);`), isInDoubt);
});

test('one that ends before has changed nothing: for lack of something, or as a fault of ours', async () => {
  await assert.rejects(thread(`throw Object.assign(new Error('x'), { code: 'EMFILE' });`), isUnavailable);
  await assert.rejects(thread(`throw Object.assign(new Error('x'), { code: 'ERR_SQLITE_ERROR', errcode: 10 });`), isUnavailable);
  await assert.rejects(thread(`throw new TypeError('x');`), TypeError);
});
