import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anonymous } from '../access/index.ts';
import { masterContext } from '../records/testing/context.ts';
import { applyChanges, emptySchema } from '../schema/change.ts';
import type { Schema } from '../schema/model.ts';
import type { Store } from '../storage/port.ts';
import { Descriptions, describeSystem, REMEMBERED, textOf } from './descriptions.ts';

const parts = { base: 'http://127.0.0.1', functions: [] };

/** A store of tables without records. */
const storeOf = (tables: number, fields = 3) =>
  storeWith(
    Array.from({ length: tables }, (_, n) => `T${n}`),
    fields,
  );

function storeWith(classNames: readonly string[], fields = 3) {
  const added = Array.from({ length: fields }, (_, at) => ({ name: `F${at}`, type: 'String' as const }));
  const changes = classNames.map((className) => ({ kind: 'createTable' as const, className, fields: added }));
  const state: { schema: Schema; labels: number } = { schema: applyChanges(emptySchema, changes), labels: 0 };
  const store = {
    schema: () => state.schema,
    durableSchema: () => state.schema,
    tableVersion: () => state.labels,
  } as unknown as Store;
  return { context: masterContext(store), state };
}

test('a description is remembered until what it depends on changes', async () => {
  const { context, state } = storeOf(3);
  const descriptions = new Descriptions();
  const first = await descriptions.of(context, [], parts);
  assert.equal(await descriptions.of(context, [], parts), first);
  assert.equal(await textOf(first), await describeSystem(context, [], parts));
  // All tables by name are all tables; a selection is another description, in whatever order.
  assert.equal(await descriptions.of(context, ['T2', 'T0', 'T1'], parts), first);
  const some = await descriptions.of(context, ['T1', 'T0'], parts);
  assert.notEqual(some.etag, first.etag);
  assert.equal(await descriptions.of(context, ['T0', 'T1'], parts), some);
  const other = await descriptions.of(context, [], { ...parts, functions: [{ name: 'f' }] });
  assert.notEqual(other.etag, first.etag);
  state.schema = applyChanges(state.schema, [{ kind: 'createTable', className: 'T9' }]);
  assert.notEqual((await descriptions.of(context, [], parts)).etag, first.etag);
  // A label that changes nothing in the text leaves the ETag as it is.
  state.labels++;
  assert.equal((await descriptions.of(context, ['T0', 'T1'], parts)).etag, some.etag);
});

test('requests of one moment share a description; those of another store never', async () => {
  const { context } = storeOf(20);
  const descriptions = new Descriptions();
  const [one, same] = await Promise.all([descriptions.of(context, [], parts), descriptions.of(context, [], parts)]);
  assert.equal(one, same);
  const restored = storeOf(19);
  assert.notEqual((await descriptions.of(restored.context, [], parts)).etag, one.etag);
});

test('a caller without a key is refused, also of what is remembered', async () => {
  const { context } = storeOf(1);
  const descriptions = new Descriptions();
  await descriptions.of(context, [], parts);
  await assert.rejects(descriptions.of({ ...context, principal: anonymous }, [], parts), { key: 'masterKeyRequired' });
  await assert.rejects(descriptions.of(context, ['T0', 'constructor'], parts), { key: 'classMissing' });
});

test('the memory of one system is bounded, and the number of systems', async () => {
  assert.ok(REMEMBERED.bytesOfSystem * REMEMBERED.systems <= 32 * 1024 * 1024);
  const descriptions = new Descriptions();
  const { context } = storeOf(1);
  // Noise does not compress: each has some 100 KB.
  const noisy = (n: number) => {
    const noise = Array.from({ length: 4_000 }, (_, at) => Math.sin(at + n * 10_000).toString(36)).join('');
    return { ...parts, functions: [{ name: `f${n}`, input: { description: noise } }] };
  };
  const first = await descriptions.of(context, [], noisy(0));
  assert.ok(first.bytes.byteLength > 30_000 && first.bytes.byteLength < REMEMBERED.bytesOfSystem);
  assert.equal(await descriptions.of(context, [], noisy(0)), first);
  const enough = Math.ceil(REMEMBERED.bytesOfSystem / first.bytes.byteLength) + 1;
  for (let n = 1; n <= enough; n++) await descriptions.of(context, [], noisy(n));
  assert.notEqual(await descriptions.of(context, [], noisy(0)), first);
});

test('other work has its turn while a large system is described', async () => {
  const { context } = storeOf(600, 25);
  await describeSystem(context, [], parts);
  let turns = 0;
  let isMade = false;
  const turn = () => {
    turns++;
    if (!isMade) setImmediate(turn);
  };
  setImmediate(turn);
  await describeSystem(context, [], parts);
  isMade = true;
  assert.ok(turns > 3, `${turns} turns`);
});

test('no table takes the id of an operation or the name of a tag', async () => {
  const ofAliases = ['_User', '_Role', '_Session', 'users', 'roles', 'sessions', 'Call', 'callFunction', 'CallFunction'];
  const { context } = storeWith([...ofAliases, 'service_users', 'Files', 'Service', 'Schemas', 'Functions']);
  const functions = ['find', 'create', 'get'].map((name) => ({ name }));
  const { tags, paths } = JSON.parse(await describeSystem(context, [], { ...parts, functions }));
  const names = tags.map(({ name }: { name: string }) => name);
  assert.deepEqual(names, [...new Set(names)]);
  const operations = Object.values<object>(paths).flatMap((item) => Object.values(item));
  const ids = operations.flatMap(({ operationId }) => operationId?.toLowerCase() ?? []);
  assert.ok(ids.length > 100);
  assert.deepEqual(ids, [...new Set(ids)]);
});
