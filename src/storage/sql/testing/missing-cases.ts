// The errors of steps that do not find their record, for the unit tests of both engines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Filter } from '../../../query/model/filter.ts';
import { fieldOf, tableOf } from '../../../schema/model.ts';
import type { Assignment, Mutation, Store } from '../../port.ts';
import { tableChanges } from './tables.ts';

/** Defines the tests. @param store one without a table `Steps` */
export async function testMissing(store: Store): Promise<void> {
  const write = (...mutations: Mutation[]) => store.write({ plan: () => ({ changes: [], mutations }) });
  const changes = tableChanges('Steps', { n: 'Number', list: 'Array' });
  await store.write({ plan: () => ({ changes, mutations: [] }) });
  const table = tableOf(store.schema(), 'Steps');
  const field = (name: string) => fieldOf(table, name);
  const n = field('n');
  const insert = (objectId: string): Mutation => ({
    kind: 'insert',
    table,
    values: [
      [field('objectId'), objectId],
      [field('createdAt'), 1],
      [field('updatedAt'), 1],
      [n, 1],
    ],
  });
  await write(insert('there'));

  const set: Assignment = { kind: 'set', field: n, value: 2 };
  const edit: Assignment = { kind: 'edit', field: field('list'), edits: [{ path: [], op: 'add', objects: [1] }] };
  const isTwenty: Filter = { kind: 'compare', field: n, op: 'eq', value: 20 };
  const update = (
    objectId: string,
    assignment: Assignment,
    more: Partial<Extract<Mutation, { kind: 'update' }>> = {},
  ): Mutation => {
    return { kind: 'update', table, objectId, guard: null, assignments: [assignment], returning: [], ...more };
  };
  const own = { missing: 'unknownFile' } as const;
  const requirement: Mutation = { kind: 'require', table, filter: isTwenty };
  const file = { code: 1, key: 'unknownFile' };
  const record = { code: 101, key: 'objectNotFound' };

  const steps: [title: string, step: Mutation, error: object][] = [
    ['an update of no record', update('none', set, own), file],
    ['an update whose condition is not met', update('there', set, { ...own, condition: isTwenty }), file],
    ['an edit of no record', update('none', edit, own), file],
    ['an edit whose condition is not met', update('there', edit, { ...own, condition: isTwenty }), file],
    ['an update that returns values', update('none', set, { ...own, returning: [n] }), file],
    ['a requirement', { ...requirement, ...own }, file],
    ['an update that names no error', update('none', set), record],
    ['an edit that names no error', update('none', edit), record],
    ['a requirement that names no error', requirement, record],
  ];
  let made = 0;
  for (const [title, step, error] of steps) {
    test(`missing: ${title} fails with its own error, alone`, () => assert.rejects(write(step), error));

    test(`missing: ${title} undoes the write that it is a step of, and no other of its turn`, async () => {
      made += 1;
      const [before, after, other] = [`b${made}`, `a${made}`, `o${made}`];
      const outcomes = await Promise.allSettled([write(insert(before), step), write(insert(other)), write(step, insert(after))]);
      const [first, second, third] = outcomes;
      assert.equal(second?.status, 'fulfilled');
      for (const one of [first, third]) {
        assert.equal(one?.status, 'rejected');
        assert.throws(() => {
          throw (one as PromiseRejectedResult).reason;
        }, error);
      }
      await assert.rejects(write(update(before, set)), record);
      await assert.rejects(write(update(after, set)), record);
      await write(update(other, set));
    });
  }

  test('missing: of two steps the first says why', async () => {
    await assert.rejects(write(update('none', set, own), update('none', set)), file);
    await assert.rejects(write(update('none', set), update('none', set, own)), record);
  });

  test('missing: it is no error where the record is there', async () => {
    await write(update('there', set, own), update('there', edit, own), { ...requirement, ...own, filter: { kind: 'always' } });
  });
}
