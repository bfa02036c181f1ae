/** The matrix: every way of writing, singly and in batches. */
import assert from 'node:assert/strict';
import {
  assertDone,
  assertRefused,
  denied,
  isRefused,
  notFound,
  type Refused,
  type Right,
  reaches,
  rightTo,
} from '../support/permissions.ts';
import type { Json } from '../support/records.ts';
import type { Answer, Service } from '../support/service.ts';
import { type Seat, verdict } from './seat.ts';
import { batch, body, createAll, type Row, type MatrixTable as Table } from './world.ts';

/** Returns the answer of a single call in the form of a batch item. */
const asItem = (answer: Answer) => (answer.status < 300 ? { success: answer.body } : { error: answer.body });

function assertItem(item: Json, expected: 'reached' | Refused, what: string): void {
  if (expected === 'reached') assert.ok(item.success, `${what}: ${JSON.stringify(item)}`);
  else assert.deepEqual(item, { error: { code: expected.code, error: expected.error } }, what);
}

/** Sends half of the writes in a batch: some of records that name the caller, and some of others. */
const inBatch = (at: number) => at % 4 === 1 || at % 4 === 2;

/** Runs writes and compares each answer with the expected one. */
async function write(
  seat: Seat,
  what: string,
  writes: { item: { method: string; path: string; body?: object }; expected: 'reached' | Refused }[],
) {
  const single = writes.filter((_, at) => !inBatch(at));
  const batched = writes.filter((_, at) => inBatch(at));
  await Promise.all(
    single.map(async ({ item: { method, path, body: sent }, expected }) => {
      const answer = await seat.call(method, path, { body: sent });
      if (expected === 'reached') assertItem(asItem(answer), expected, what);
      else assertRefused(answer, expected, `${what} ${path}`);
    }),
  );
  if (batched.length === 0) return;
  const answers = await seat.call('POST', '/platform/batch', { body: { requests: batched.map(({ item }) => item) } });
  assertDone(answers, 200, what);
  batched.forEach(({ expected }, at) => void assertItem(answers.body[at], expected, `${what} in a batch`));
}

const pathOf = ({ table }: Seat, objectId?: string) =>
  `/platform/classes/${table.name}${objectId === undefined ? '' : `/${objectId}`}`;

export async function update(seat: Seat): Promise<void> {
  const writes = seat.table.rows.map((row) => ({
    item: { method: 'PUT', path: pathOf(seat, row.objectId), body: { n: { __op: 'Increment', amount: 1 } } },
    expected: verdict(seat, 'update', 'write', row),
  }));
  await write(seat, 'update', writes);
  writes.forEach(({ expected }, at) => {
    if (expected === 'reached') (seat.table.rows[at] as Row).n += 1;
  });
}

/** Writes all records that match: those that the caller finds, of which it writes those that it may write. */
async function writeMany(seat: Seat, action: 'update' | 'delete', rows: readonly Row[], where: object): Promise<Row[]> {
  const { caller, table } = seat;
  const [method, done, sent] =
    action === 'update' ? ['PUT', 'updated', { n: { __op: 'Increment', amount: 1 } }] : ['DELETE', 'deleted'];
  const ask = (query: object) => seat.call(method, pathOf(seat), { query: { where, ...query }, body: sent });
  const right = rightTo(caller, action, table);
  const find = rightTo(caller, 'find', table);
  for (const refused of [right, find]) {
    if (!isRefused(refused)) continue;
    assertRefused(await ask({ expect: rows.length }), refused, `${action} many`);
    assertRefused(await ask({ dryRun: true }), refused, `${action} many, dry`);
    return [];
  }
  const found = rows.filter((row) => reaches(caller, find as Right, 'read', row));
  const written = found.filter((row) => reaches(caller, right as Right, 'write', row));
  assert.deepEqual(assertDone(await ask({ dryRun: true }), 200, 'dry'), { matched: found.length });
  const { refused, ...counts } = assertDone(await ask({ expect: found.length }), 200, `${action} many`);
  assert.deepEqual(counts, { matched: found.length, [done]: written.length });
  const others = found
    .filter((row) => !written.includes(row))
    .map(({ objectId }) => ({ objectId, code: 101, error: notFound.error }));
  assert.deepEqual(
    refused.toSorted((a: Json, b: Json) => (a.objectId < b.objectId ? -1 : 1)),
    others.toSorted((a, b) => (a.objectId < b.objectId ? -1 : 1)),
  );
  return written;
}

export async function updateMany(seat: Seat): Promise<void> {
  for (const row of await writeMany(seat, 'update', seat.table.rows, { n: { $exists: true } })) row.n += 1;
}

export async function removeMany(seat: Seat): Promise<void> {
  const { table, service } = seat;
  const copies = table.rows.map((row) => ({ ...row, k: made.k, objectId: `copy-${row.objectId}` }));
  await createAll(service, table.name, copies.map(body));
  const deleted = await writeMany(seat, 'delete', copies, { k: made.k });
  await clean(service, table, copies.length - deleted.length);
}

const made: Row = { k: 'made', objectId: '', n: 0 };

export async function create(seat: Seat): Promise<void> {
  const { caller, table, service } = seat;
  const right = rightTo(caller, 'create', table);
  const expected = isRefused(right) ? right : 'reached';
  const item = { method: 'POST', path: pathOf(seat), body: { k: made.k } };
  await write(seat, 'create', [
    { item, expected },
    { item, expected },
  ]);
  const growth = rightTo(caller, 'addField', table);
  const grows =
    expected !== 'reached'
      ? expected
      : growth === 'all'
        ? 'reached'
        : isRefused(growth)
          ? growth
          : denied('addField', table.name);
  const growing = { ...item, body: { k: made.k, fresh: 1 } };
  await write(seat, 'create with a new field', [
    { item: growing, expected: grows },
    { item: growing, expected: grows },
  ]);
  await clean(service, table, (expected === 'reached' ? 2 : 0) + (grows === 'reached' ? 2 : 0));
}

/** Deletes the created records, which must be this many, and the new field. */
async function clean(service: Service, table: Table, count: number): Promise<void> {
  const { results } = assertDone(
    await service.call('GET', `/platform/classes/${table.name}`, { query: { where: { k: made.k } } }),
    200,
    'made',
  );
  assert.equal(results.length, count);
  if (count > 0)
    await batch(
      service,
      results.map(({ objectId }: Row) => ({ method: 'DELETE', path: `/platform/classes/${table.name}/${objectId}` })),
    );
  await dropFresh(service, table);
}

async function dropFresh(service: Service, table: Table): Promise<void> {
  const schema = assertDone(await service.call('GET', `/platform/schemas/${table.name}`), 200, 'schema');
  if (!schema.fields.fresh) return;
  const fields = { fresh: { __op: 'Delete' } };
  assertDone(await service.call('PUT', `/platform/schemas/${table.name}`, { body: { fields } }), 200, 'drop');
}

export async function addField(seat: Seat): Promise<void> {
  const { caller, table, service } = seat;
  const growth = rightTo(caller, 'addField', table);
  for (const row of table.rows.filter((_, at) => at < 6)) {
    const right = rightTo(caller, 'update', table);
    let expected: 'reached' | Refused = notFound;
    if (isRefused(right)) expected = right;
    else if (isRefused(growth)) expected = growth;
    else if ([right, growth].every((one) => reaches(caller, one, 'write', row))) expected = 'reached';
    const answer = await seat.call('PUT', pathOf(seat, row.objectId), { body: { fresh: 1 } });
    if (expected === 'reached') assertDone(answer, 200, `a new field in ${row.k}`);
    else assertRefused(answer, expected, `a new field in ${row.k}`);
    if (expected === 'reached') await dropFresh(service, table);
  }
}

/** Deletes copies of the rows, which no record points at. */
export async function remove(seat: Seat): Promise<void> {
  const { table, service } = seat;
  const copies = table.rows.map((row) => ({ ...row, k: made.k, objectId: `copy-${row.objectId}` }));
  await createAll(service, table.name, copies.map(body));
  const writes = copies.map((row) => ({
    item: { method: 'DELETE', path: pathOf(seat, row.objectId) },
    expected: verdict(seat, 'delete', 'write', row),
  }));
  await write(seat, 'delete', writes);
  await clean(service, table, writes.filter(({ expected }) => expected !== 'reached').length);
}

/** Asserts that refused writes had no effect: records and fields are those of the allowed writes. */
export async function assertNothingElse({ service, table }: Seat, fields: string): Promise<void> {
  const schema = assertDone(await service.call('GET', `/platform/schemas/${table.name}`), 200, 'schema');
  assert.equal(Object.keys(schema.fields).join(), fields);
  const { results } = assertDone(
    await service.call('GET', `/platform/classes/${table.name}`, { query: { order: 'k' } }),
    200,
    'rows',
  );
  assert.deepEqual(
    results.map(({ k, n }: Row) => [k, n]),
    table.rows.map(({ k, n }) => [k, n]),
  );
}
