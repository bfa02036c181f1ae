import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { type ServiceError, serviceError } from '../../../errors/fail.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { PreparedWrite, Store } from '../../../storage/port.ts';
import { addressesOf } from '../../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../../storage/sqlite/index.ts';
import { openAnyway } from '../../../storage/testing/open.ts';
import { errorToReport, type RecordContext } from '../../context/context.ts';
import { findRows } from '../../read/find.ts';
import { masterContext } from '../../testing/context.ts';
import { writeAtomically } from '../batch-write.ts';
import { deleteRecord } from '../remove.ts';
import { updateRecord } from '../update.ts';
import { writeMatching } from './write-matching.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-matching-'));
const engine = new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf });
const className = 'Many';
const RECORDS = 1_201;
let store: Store;
let context: RecordContext;
let ids: string[];
/** Called before each write of the work under test, with its number from 0. */
let beforeWrite: (n: number) => unknown;
let writes: number;
let atOnce: number[];

before(async () => {
  store = await openAnyway(engine, 'app');
});
beforeEach(async () => {
  context = masterContext(store);
  await writeMatching(context, { kind: 'delete', className, body: {} }, { where: { objectId: { $exists: true } } });
  const created = await writeAtomically(
    context,
    Array.from({ length: RECORDS }, () => ({ kind: 'create', className, body: { n: 0 } })),
  );
  ids = created.map(({ objectId }) => objectId);
  beforeWrite = () => {};
  writes = 0;
  atOnce = [];
});
after(async () => {
  await store.close();
  await engine.close();
  rmSync(directory, { recursive: true });
});

/** The store, with the hook before its writes. */
function hooked(): RecordContext {
  let underWay = 0;
  const write = async (prepared: PreparedWrite) => {
    const n = writes++;
    atOnce[n] = ++underWay;
    try {
      await beforeWrite(n);
      return await store.write(prepared);
    } finally {
      underWay--;
    }
  };
  const hookedStore = new Proxy(store, {
    get: (target, name) => (name === 'write' ? write : bound(target, name)),
  });
  return { ...context, store: hookedStore, progress: { hasWritten: false } };
}
function bound(target: Store, name: string | symbol): unknown {
  const value = Reflect.get(target, name, target);
  return typeof value === 'function' ? value.bind(target) : value;
}

const where = { n: { $lt: 5 } };
const increment = { n: { __op: 'Increment', amount: 1 } };
const update = (of: RecordContext, body: JsonObject = increment, shouldStop?: () => boolean) =>
  writeMatching(of, { kind: 'update', className, body }, { where }, shouldStop);
const count = async (of: JsonObject) => (await findRows(context, className, { where: of, limit: 1e9, keys: ['n'] })).length;

test('the first record alone, then groups of 500', async () => {
  assert.deepEqual(await update(hooked()), { matched: RECORDS, written: RECORDS, refused: [] });
  assert.deepEqual([writes, Math.max(...atOnce), atOnce[0], atOnce[1]], [RECORDS, 500, 1, 1]);
  assert.equal(await count({ n: 1 }), RECORDS);
});

test('a long body: fewer at once', async () => {
  await update(hooked(), { text: 'x'.repeat(100_000), n: 1 });
  assert.ok(Math.max(...atOnce) < 30, String(Math.max(...atOnce)));
});

test('a new field is added by the first record', async () => {
  const { fields: earlier } = store.schema().tables.get(className) as NonNullable<ReturnType<typeof tableNow>>;
  beforeWrite = (n) => {
    if (n > 0) assert.ok(tableNow()?.fields.has('fresh'));
  };
  await update(hooked(), { fresh: 1 });
  assert.ok(!earlier.has('fresh'));
  assert.equal(await count({ fresh: 1 }), RECORDS);
});
const tableNow = () => store.schema().tables.get(className);

test('a record that others change before its commit is read again: written once if it still matches', async () => {
  const change = () =>
    Promise.all([
      ...ids.slice(600, 650).map((id) => updateRecord(context, className, id, { other: 1 })),
      ...ids.slice(700, 710).map((id) => updateRecord(context, className, id, { n: 5 })),
      ...ids.slice(720, 725).map((id) => deleteRecord(context, className, id, {})),
    ]);
  let changed: Promise<unknown> | undefined;
  // The third group: those from 501 on.
  beforeWrite = (n) => {
    if (n > 500 && n <= 1_000) changed ??= change();
    return changed;
  };
  const { matched, written, refused = [] } = await update(hooked());
  assert.deepEqual([matched, written], [RECORDS, RECORDS - 15]);
  assert.deepEqual(
    refused.map(({ objectId }) => objectId).toSorted(),
    [...ids.slice(700, 710), ...ids.slice(720, 725)].toSorted(),
  );
  assert.deepEqual(new Set(refused.map(({ code }) => code)), new Set([409]));
  assert.deepEqual([await count({ n: 1 }), await count({ n: 1, other: 1 }), await count({ n: 5 })], [RECORDS - 15, 50, 10]);
});

test('a record that others change without end is refused', async () => {
  let own = 0;
  const [first] = ids as [string];
  beforeWrite = (n) => (n === 0 || atOnce[n] === 1 ? updateRecord(context, className, first, { other: ++own }) : undefined);
  const { written, refused = [] } = await update(hooked());
  assert.equal(written, RECORDS - 1);
  assert.deepEqual(refused, [{ objectId: first, code: 409, error: 'The record has changed meanwhile.' }]);
});

test('a passing fault ends it: the answer is in doubt and says how far it came', async () => {
  beforeWrite = (n) => {
    if (n === 700) throw serviceError('unavailable');
  };
  const of = hooked();
  const thrown = await update(of).then(
    () => assert.fail(),
    (error: ServiceError) => error,
  );
  const reported = errorToReport(thrown, of.progress as NonNullable<RecordContext['progress']>, true) as ServiceError;
  assert.equal(reported.key, 'outcomeUnknown');
  assert.deepEqual(reported.details, { matched: RECORDS, updated: await count({ n: 1 }) });
  assert.equal(await count({ n: 1 }), 1_000);
});

test('a write in doubt among faults is what is reported', async () => {
  beforeWrite = (n) => {
    if (n === 700) throw serviceError('unavailable');
    if (n === 800) throw serviceError('outcomeUnknown');
  };
  await assert.rejects(update(hooked()), { key: 'outcomeUnknown' });
});

test('a stop before the first record leaves nothing written', async () => {
  const of = hooked();
  await assert.rejects(
    update(of, increment, () => true),
    { key: 'unavailable' },
  );
  assert.deepEqual([writes, of.progress?.hasWritten], [0, false]);
});

test('of many at once all are carried out, one after the other', async () => {
  const answers = await Promise.all(
    Array.from({ length: 7 }, () => writeMatching(hooked(), { kind: 'update', className, body: increment }, { where: { n: 0 } })),
  );
  assert.equal(
    answers.reduce((sum, { written = 0 }) => sum + written, 0),
    RECORDS,
  );
  assert.equal(await count({ n: 1 }), RECORDS);
});
