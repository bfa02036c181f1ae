import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { rowContext } from '../../storage/sql/testing/addresses.ts';
import { ReaderPool } from '../../storage/sqlite/reads/reader-pool.ts';
import { SqliteStore } from '../../storage/sqlite/store.ts';
import { attemptCall } from '../actions/server-side-code.ts';
import { deliverMail } from '../mail/deliver.ts';
import { makeTables } from '../schedule/testing/tables.ts';
import { left, logged, makes, queueRows, trigger, worldOf } from './testing/world.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-unreadable-'));
const pool = new ReaderPool(10_000, assert.fail);
const store = new SqliteStore(join(directory, 'a.sqlite'), { pool, report: assert.fail, ...rowContext });
await makeTables(store);
after(async () => {
  await store.close();
  await pool.close();
  rmSync(directory, { recursive: true });
});

test('rows that cannot be read are reported once, and gone; the others are done', async () => {
  const names = '["objectId","name"]';
  const record = '["b","x"]';
  const broken = [
    ['no JSON', record],
    [names, 'no JSON'],
    ['{"a":1}', record],
    ['[1]', record],
    [names, '{"b":1}'],
    [names, 'null'],
  ];
  await queueRows(store, [
    ...broken.map(([fields = '', text = ''], at) => ({ triggers: 't', objectIdValue: `b${at}`, fields, record: text })),
    { objectId: 'old', kind: 'before', objectIdValue: 'b6', fields: names, record: '[' },
    { triggers: 't', objectIdValue: 'b6', before: 'old' },
    { triggers: 't', objectIdValue: 'b7', state: 'no JSON' },
    { triggers: 't', objectIdValue: 'fine' },
    ...['[', 'null', '{}', '{"message":5}'].map((state) => ({ kind: 'mail', triggers: 't', objectIdValue: 'm', state })),
    ...['[', '{}'].map((state) => ({ kind: 'code', triggers: 't', objectIdValue: 'c', state })),
  ]);
  const world = worldOf(store, {
    triggers: [trigger('t', [makes('a')])],
    later: { mail: deliverMail, code: attemptCall },
  });
  assert.equal(await world.work(), null);
  assert.deepEqual(await left(store), []);
  const told = (await logged(store)).filter((row) => !row.endsWith(' ok')).sort();
  const wanted = [
    ...['c', 'c', 'm', 'm', 'm', 'm'].map((id) => `t - ${id} What was queued cannot be read.`),
    ...Array.from({ length: 7 }, (_, at) => `t - b${at} What was queued of the record cannot be read.`),
  ];
  assert.deepEqual(told, wanted.sort());
});
