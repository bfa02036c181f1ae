import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fail, serviceError } from '../../errors/fail.ts';
import { CONTENTION_LIMIT_MS } from '../../kernel/contention.ts';
import { fieldOf } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/index.ts';
import { openAnyway } from '../../storage/testing/open.ts';
import type { RecordContext } from '../context/context.ts';
import type { TableRules } from '../context/write-hooks.ts';
import { readRow } from '../read/system-reads.ts';
import { masterContext } from '../testing/context.ts';
import { writeAtomically } from './batch-write.ts';
import { retryOutdated } from './before-save.ts';
import type { PreparedRecord } from './commit.ts';
import { createRecord } from './create.ts';
import type { OnlyIf } from './precondition.ts';
import { updateRecord } from './update.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-rules-'));
const engine = new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf });
let store: Store;
let objectId: string;
let asked: number;
/** What others do between the rules' look at the record and the commit. */
let meanwhile: () => Promise<unknown>;

const className = 'Sums';
const keys = ['a', 'b', 'updatedAt'];
type Row = { readonly a: number; readonly b: number; readonly updatedAt: string };
const read = async () => (await readRow<Row>(store, className, keys, objectId)) ?? fail('objectNotFound');

/** Either number may be 1, and not both. */
const rules: TableRules = {
  async update({ fields }) {
    asked++;
    const row = await read();
    await meanwhile();
    const after = { ...row, ...fields };
    return after.a + after.b > 1 ? fail('systemTable') : { fields, version: Date.parse(row.updatedAt) };
  },
};
let ruled: RecordContext;

before(async () => {
  store = await openAnyway(engine, 'app');
  ruled = masterContext(store, new Map([[className, rules]]));
});
beforeEach(async () => {
  ({ objectId } = await createRecord(masterContext(store), className, { a: 0, b: 0 }));
  asked = 0;
  meanwhile = async () => {};
});
after(async () => {
  await store.close();
  await engine.close();
  rmSync(directory, { recursive: true });
});

const once = (work: () => Promise<unknown>) => async () => {
  if (asked === 1) await work();
};
const values = async () => {
  const { a, b } = await read();
  return [a, b];
};
/** One write, alone or among others of its commit. */
const ways = {
  alone: (body: { a?: number; b?: number }) => updateRecord(ruled, className, objectId, body),
  together: (body: { a?: number; b?: number }) => writeAtomically(ruled, [{ kind: 'update', className, objectId, body }]),
};

for (const [way, change] of Object.entries(ways)) {
  test(`${way}: rules that have read what is no longer so are asked again, and refuse or allow by what is`, async () => {
    meanwhile = once(() => change({ b: 1 }));
    await assert.rejects(change({ a: 1 }), { key: 'systemTable' });
    assert.deepEqual(await values(), [0, 1]);
    asked = 0;
    meanwhile = once(() => change({ b: 0 }));
    await change({ a: 0 });
    assert.deepEqual(await values(), [0, 0]);
  });

  test(`${way}: many at once all come to their turn`, async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, (_, n) => change(n % 2 === 0 ? { a: 1 } : { b: 1 })));
    assert.deepEqual(await values(), [1, 0]);
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 6);
  });

  test(`${way}: who is overtaken each time gives up; a record that goes is not found`, async (t) => {
    let nowMs = 0;
    t.mock.method(performance, 'now', () => nowMs);
    meanwhile = () => {
      nowMs += 0.3 * CONTENTION_LIMIT_MS;
      return updateRecord(masterContext(store), className, objectId, { a: 0 });
    };
    let clock = Date.now();
    t.mock.method(Date, 'now', () => ++clock);
    await assert.rejects(change({ a: 1 }), { key: 'unavailable' });
    assert.equal(asked, 5);
    assert.deepEqual(await values(), [0, 0]);
    asked = 0;
    meanwhile = once(() => writeAtomically(ruled, [{ kind: 'delete', className, objectId, body: {} }]));
    await assert.rejects(change({ a: 1 }), { code: 101 });
  });
}

test('of one millisecond, and beside a clock that is behind, each write is later than the one before', async (t) => {
  const { updatedAt } = await read();
  t.mock.method(Date, 'now', () => Date.parse(updatedAt) - 5);
  const times = [Date.parse(updatedAt)];
  for (let n = 0; n < 3; n++) {
    const answer = await updateRecord(ruled, className, objectId, { a: 1 });
    assert.equal(answer.updatedAt, (await read()).updatedAt);
    times.push(Date.parse(answer.updatedAt));
  }
  assert.deepEqual(
    times.map((time) => time - (times[0] as number)),
    [0, 1, 2, 3],
  );
});

test('what the caller asks for holds beside what the rules have read', async () => {
  const onlyIf: OnlyIf = (table) => ({ kind: 'compare', field: fieldOf(table, 'b'), op: 'eq', value: 0 });
  meanwhile = once(() => updateRecord(ruled, className, objectId, { a: 0 }));
  await updateRecord(ruled, className, objectId, { a: 1 }, { onlyIf });
  assert.deepEqual(await values(), [1, 0]);
  await updateRecord(ruled, className, objectId, { a: 0, b: 1 });
  await assert.rejects(updateRecord(ruled, className, objectId, { b: 0 }, { onlyIf }), { key: 'changedMeanwhile' });
});

const firstBy = (version: number) => ({ prepared: [readBy(version)], failure: serviceError('objectNotFound') });
const readBy = (version: number): PreparedRecord => ({ className, objectId, fields: {}, at: 0, version, plan: assert.fail });

test('writes that come too late all the time are refused after the same time, however many there are', async (t) => {
  let nowMs = 0;
  let version = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const late = async () => {
    nowMs += CONTENTION_LIMIT_MS / 10;
    return fail('objectNotFound');
  };
  const refused = await Promise.all(
    Array.from({ length: 4 }, async () => {
      await assert.rejects(
        retryOutdated(ruled, firstBy(++version), async () => [readBy(++version)], late),
        { key: 'unavailable' },
      );
      return nowMs;
    }),
  );
  assert.ok(Math.max(...refused) < 2.5 * CONTENTION_LIMIT_MS, `${refused}`);
});

test('a write that comes too late all the time lets others go on', async () => {
  let attempts = 0;
  const beganAtMs = performance.now();
  const isOver = () => performance.now() - beganAtMs > 300;
  const prepare = async () => [readBy(isOver() ? attempts : ++attempts)];
  const timer = wait(5).then(() => attempts);
  await assert.rejects(
    retryOutdated(ruled, firstBy(++attempts), prepare, async () => fail('objectNotFound')),
    { key: 'objectNotFound' },
  );
  assert.ok((await timer) < 10);
  assert.ok(attempts > 3 && attempts < 100, `${attempts}`);
});
