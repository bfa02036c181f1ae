// The conditions of writes, for the unit tests of both engines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SchemaChange } from '../../../schema/change.ts';
import { fieldOf, tableOf } from '../../../schema/model.ts';
import { type Condition, ConditionFailed, type Mutation, type Store, wholeText } from '../../port.ts';
import { tableChanges } from './tables.ts';

/** Defines the tests. @param store one without a table `Conditions` */
export async function testConditions(store: Store): Promise<void> {
  const fields = { n: 'Number', name: 'String', list: 'Array' };
  await store.write({ plan: () => ({ changes: tableChanges('Conditions', fields), mutations: [] }) });
  const table = tableOf(store.schema(), 'Conditions');
  const field = (name: string) => fieldOf(table, name);
  const write = (conditions: readonly Condition[], mutations: readonly Mutation[], changes: readonly SchemaChange[] = []) =>
    store.write({ plan: () => ({ conditions, changes, mutations }) });
  const insert = (objectId: string, name: string): Mutation => ({
    kind: 'insert',
    table,
    values: [
      [field('objectId'), objectId],
      [field('createdAt'), 1],
      [field('updatedAt'), 1],
      [field('name'), name],
    ],
  });
  const edit = (objectId: string): Mutation => ({
    kind: 'update',
    table,
    objectId,
    guard: null,
    assignments: [{ kind: 'edit', field: field('list'), edits: [{ path: [], op: 'add', objects: [1] }] }],
    returning: [],
  });
  const named = (name: string): Condition => ({
    kind: 'absent',
    table,
    filter: { kind: 'compare', field: field('name'), op: 'eq', value: name },
    key: name,
  });
  const names = async (prefix: string): Promise<string[]> => {
    const { results } = await store.reader.find({
      table,
      fields: [field('name')],
      filter: { kind: 'always' },
      includes: [],
      order: [],
      skip: 0,
      limit: 10_000,
      count: false,
      withScore: false,
    });
    const rows = JSON.parse(await wholeText(results)) as { name: string }[];
    return rows.map(({ name }) => name).filter((name) => name.startsWith(prefix));
  };
  const came = (outcomes: readonly PromiseSettledResult<unknown>[]) =>
    outcomes.map((one) =>
      one.status === 'fulfilled' ? 'done' : one.reason instanceof ConditionFailed ? 'overtaken' : one.reason,
    );

  await write([], [insert('there', 'there')]);

  test('conditions: a write is carried out where nothing matches, and is overtaken where something does', async () => {
    await write([named('single')], [insert('single1', 'single')]);
    await assert.rejects(write([named('single')], [insert('single2', 'single')]), ConditionFailed);
    await assert.rejects(write([named('other'), named('single')], [insert('single3', 'single')]), ConditionFailed);
    assert.deepEqual(await names('single'), ['single']);
  });

  test('conditions: of many writes of a turn for one name one is carried out', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 30 }, (_, at) => write([named(`turn${at % 3}`)], [insert(`turn${at}`, `turn${at % 3}`)])),
    );
    assert.equal(came(outcomes).filter((one) => one === 'done').length, 3);
    assert.equal(came(outcomes).filter((one) => one === 'overtaken').length, 27);
    assert.deepEqual((await names('turn')).sort(), ['turn0', 'turn1', 'turn2']);
  });

  test('conditions: an overtaken write fails alone, whatever goes with it', async () => {
    const outcomes = await Promise.allSettled([
      write([], [insert('with1', 'with1')]),
      write([named('there')], [insert('with2', 'with2'), insert('with3', 'with3')]),
      write([named('there')], [edit('there')]),
      write([], [edit('there')]),
      write([named('with4')], [edit('there'), insert('with4', 'with4')]),
      write([], [insert('there', 'taken')]),
      write([named('with5')], [insert('with5', 'with5')]),
    ]);
    const [, , , , , taken, ...rest] = came(outcomes);
    assert.equal((taken as { code?: unknown }).code, 137);
    assert.deepEqual(came(outcomes).slice(0, 5), ['done', 'overtaken', 'overtaken', 'done', 'done']);
    assert.deepEqual(rest, ['done']);
    assert.deepEqual((await names('with')).sort(), ['with1', 'with4', 'with5']);
    const kept = await store.reader.get({ table, fields: [field('list')], filter: { kind: 'always' }, includes: [] }, 'there');
    assert.deepEqual(JSON.parse(await wholeText(kept ?? '')), { list: [1, 1] });
  });

  test('conditions: an overtaken write changes no schema', async () => {
    const grow = (name: string): SchemaChange[] => [{ kind: 'addField', className: 'Conditions', name, type: 'String' }];
    await assert.rejects(write([named('there')], [], grow('never')), ConditionFailed);
    await write([named('grown')], [insert('grown', 'grown')], grow('grown'));
    const { fields: now } = tableOf(store.schema(), 'Conditions');
    assert.ok(now.has('grown'));
    assert.ok(!now.has('never'));
  });

  test('conditions: a write that fails by itself is reported so, and writes under no name', async () => {
    await assert.rejects(write([named('failing')], [insert('there', 'failing')]), { code: 137 });
    await write([named('failing')], [insert('failing', 'failing')]);
  });

  test('conditions: hundreds of names of a turn', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 300 }, (_, at) => write([named(`m${at}`), named(`n${at}`)], [insert(`many${at}`, `many${at}`)])),
    );
    assert.deepEqual(new Set(came(outcomes)), new Set(['done']));
  });

  test('conditions: a writer writes on under the keys that he has read', async () => {
    const versions = await store.keyVersions(['one', 'two']);
    const unchanged: Condition = { kind: 'unchanged', writer: 'w', versions };
    await write([unchanged], [insert('key1', 'key')]);
    await Promise.all([write([unchanged], [insert('key2', 'key')]), write([unchanged, named('free')], [insert('key3', 'key')])]);
    assert.equal((await names('key')).length, 3);
    await write(
      [{ kind: 'unchanged', writer: 'v', versions: await store.keyVersions(['two', 'three']) }],
      [insert('key4', 'key')],
    );
  });
}
