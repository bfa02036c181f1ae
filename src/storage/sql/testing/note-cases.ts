// Log rows about a write, for the unit tests of both engines: a write and its row take effect together, whatever else is written.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldOf, tableOf } from '../../../schema/model.ts';
import type { Mutation, Store } from '../../port.ts';
import { tableChanges } from './tables.ts';

type Insert = Extract<Mutation, { kind: 'insert' }>;
type Update = Extract<Mutation, { kind: 'update' }>;

/** Defines the tests. @param store one without tables `Told` and `_Notes` */
export async function testNotes(store: Store): Promise<void> {
  const write = (...mutations: Mutation[]) => store.write({ plan: () => ({ changes: [], mutations }) });
  const changes = [
    ...tableChanges('Told', { n: 'Number', list: 'Array', R: 'Relation:Told', P: 'Pointer:Told' }),
    ...tableChanges('_Notes', { of: 'String', Last: 'Boolean', n: 'Number', P: 'Pointer:Told' }),
  ];
  await store.write({ plan: () => ({ changes, mutations: [] }) });
  const [told, notes] = [tableOf(store.schema(), 'Told'), tableOf(store.schema(), '_Notes')];
  const [n, list, relation, pointer] = [fieldOf(told, 'n'), fieldOf(told, 'list'), fieldOf(told, 'R'), fieldOf(told, 'P')];
  let time = 0;
  const insertInto = (
    table: typeof told,
    objectId: string,
    more: Readonly<Record<string, string | number | boolean>>,
  ): Insert => {
    time++;
    const values = Object.entries({ objectId, createdAt: time, updatedAt: time, ...more });
    return { kind: 'insert', table, values: values.map(([name, value]) => [fieldOf(table, name), value]) };
  };
  const insert = (objectId: string, value = 0): Insert => insertInto(told, objectId, { n: value });
  const update = (objectId: string, value: number, more: Partial<Update> = {}): Update => {
    const assignments = [{ kind: 'set', field: n, value }] as const;
    return { kind: 'update', table: told, objectId, guard: null, assignments, returning: [], ...more };
  };
  let made = 0;
  const note = (of: string, more: Partial<Insert> = {}): Insert => ({
    ...insertInto(notes, `note${++made}`, { of, Last: true }),
    isNote: true,
    ...more,
  });
  const unmark = (of: string): Mutation => ({
    kind: 'unmark',
    table: notes,
    holding: [[fieldOf(notes, 'of'), of]],
    mark: fieldOf(notes, 'Last'),
  });
  const rows = async (of: string): Promise<Record<string, unknown>[]> => {
    const fields = ['Last', 'n', 'P'].map((name) => fieldOf(notes, name));
    const filter = { kind: 'compare', field: fieldOf(notes, 'of'), op: 'eq', value: of } as const;
    const all = { includes: [], order: [], skip: 0, limit: 1000, count: false, withScore: false };
    const { results } = await store.reader.find({ table: notes, fields, filter, ...all });
    return JSON.parse(results as string);
  };
  const lasts = async (of: string) => (await rows(of)).map(({ Last }) => Last);

  test('notes: one for each write of a turn that succeeds, none for one that fails', async () => {
    await write(insert('taken'));
    const done = await Promise.allSettled([
      write(insert('a1'), note('a1')),
      write(insert('taken'), note('taken')),
      write(insert('a2'), note('a2')),
      write(insert('a3')),
      write(update('none', 1), unmark('none'), note('none')),
      write(update('a1', 1), unmark('a1'), note('a1')),
      write({ kind: 'delete', table: told, objectId: 'none', guard: null }, unmark('none'), note('none')),
      write({ kind: 'delete', table: told, objectId: 'a2', guard: null }, unmark('a2'), note('a2')),
    ]);
    assert.deepEqual(
      done.map(({ status }) => status === 'fulfilled'),
      [true, false, true, true, false, true, false, true],
    );
    assert.equal((done[1] as PromiseRejectedResult).reason.code, 137);
    assert.deepEqual(
      await Promise.all(['a1', 'taken', 'a2', 'a3', 'none'].map(async (id) => (await rows(id)).length)),
      [2, 0, 2, 0, 0],
    );
    assert.deepEqual(await lasts('a1'), [false, true]);
  });

  test('notes: the mark is taken off the last few, by whatever step the write begins with', async () => {
    await write(insert('m'), note('m'), note('m'));
    assert.deepEqual(await lasts('m'), [true, true]);
    await write(update('m', 1), unmark('m'), note('m'));
    assert.deepEqual(await lasts('m'), [false, false, true]);
    const member = { kind: 'link', table: told, relation, ownerId: 'm', memberIds: ['a'] } as const;
    await write(update('m', 2), member, unmark('m'), note('m'));
    const edit = { kind: 'edit', field: list, edits: [{ path: [], op: 'add', objects: [1] }] } as const;
    await write(update('m', 3, { assignments: [edit], returning: [list] }), unmark('m'), note('m'));
    await write(update('m', 4, { returning: [n], returningGuard: null }), unmark('m'), note('m'));
    assert.deepEqual(await lasts('m'), [false, false, false, false, false, true]);
  });

  test('notes: what updates return comes with them', async () => {
    await write(insert('r', 1));
    const increment = { kind: 'increment', field: n, amount: 2 } as const;
    const wanted = update('r', 0, { assignments: [increment], returning: [n] });
    const source = { kind: 'copy', from: told, objectId: 'r', fields: [[fieldOf(notes, 'n'), n]] } as const;
    assert.deepEqual(await write(wanted, unmark('r'), note('r', { source })), { returned: ',"n":3' });
    assert.deepEqual(await rows('r'), [{ Last: true, n: 3 }]);
  });

  test('notes: values are copied from the record as it is then; nothing is added where there is none', async () => {
    await write(insert('c'));
    const fields = [
      [fieldOf(notes, 'n'), n],
      [fieldOf(notes, 'P'), pointer],
    ] as const;
    const copying = (objectId: string) => note(objectId, { source: { kind: 'copy', from: told, objectId, fields } });
    const target = { __type: 'Pointer', className: 'Told', objectId: 'c' };
    const pointing = update('c', 5, {
      assignments: [
        { kind: 'set', field: n, value: 5 },
        { kind: 'set', field: pointer, value: 'c' },
      ],
    });
    await Promise.all([write(pointing, copying('c')), write(update('c', 6), copying('c')), write(copying('c'))]);
    await write(copying('nobody'));
    assert.deepEqual(await rows('c'), [
      { Last: true, n: 5, P: target },
      { Last: true, n: 6, P: target },
      { Last: true, n: 6, P: target },
    ]);
    assert.deepEqual(await rows('nobody'), []);
  });

  test('notes: a write whose row is refused leaves nothing, and takes nothing else of what is durable along', async () => {
    await write(insert('d1'), note('d1'));
    const taken = insertInto(notes, 'note-taken', { of: 'x' });
    await write(taken);
    await assert.rejects(write(insert('d2'), { ...taken, isNote: true }));
    await assert.rejects(write(update('d1', 7), unmark('d1'), { ...taken, isNote: true }));
    assert.deepEqual(await rows('d1'), [{ Last: true }]);
    await assert.rejects(write(update('d2', 1)), { code: 101 });
    await write(insert('d3'), note('d3'));
    assert.equal((await rows('d3')).length, 1);
  });
}
