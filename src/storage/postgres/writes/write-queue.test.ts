import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { nextWriteOrder } from '../../../kernel/ids.ts';
import { applyChange, emptySchema } from '../../../schema/change.ts';
import { fieldOf, type Schema, tableOf } from '../../../schema/model.ts';
import type { Assignment, Condition, Mutation, WritePlan } from '../../port.ts';
import { tableObstacle } from './obstacles.ts';
import type { QueuedWrite, Unfinished } from './queued-write.ts';
import { WriteQueue } from './write-queue.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

let schema: Schema;
/** Running groups: what they contain, and functions that end them. */
let pending: {
  names: string;
  end: (retry?: readonly QueuedWrite[], obstacles?: readonly string[]) => Promise<void>;
  group: readonly QueuedWrite[];
}[];
let queue: WriteQueue;

beforeEach(() => {
  schema = applyChange(emptySchema, { kind: 'createTable', className: 'A' });
  schema = applyChange(schema, { kind: 'addField', className: 'A', name: 'list', type: 'Array' });
  pending = [];
  const carry = (group: readonly QueuedWrite[]) =>
    new Promise<Unfinished>((resolve) => {
      const end = async (retry: readonly QueuedWrite[] = [], obstacles: readonly string[] = []) => {
        pending = pending.filter((one) => one.group !== group);
        for (const write of group) if (!retry.includes(write)) write.resolve({ returned: '' });
        resolve({ retry, obstacles });
        await turn();
      };
      pending.push({ names: group.map(nameOf).join(' '), end, group });
    });
  queue = new WriteQueue(
    { schema: () => schema, execute: carry, executeChange: (write) => carry([write]) },
    { maxGroupSize: 4, maxConcurrentGroups: 2, maxHeldMs: 1000, timeoutError: () => new Error('held') },
  );
});

afterEach(async () => {
  while (pending.length > 0) await end(0);
});

const nameOf = ({ plan }: QueuedWrite) => {
  const [only] = plan.mutations;
  const id = only && 'objectId' in only ? only.objectId : '';
  return `${plan.changes.length > 0 ? 'change:' : ''}${only?.kind === 'delete' ? 'delete:' : ''}${id}`;
};
const now = () => pending.map(({ names }) => names);
const end = (at: number, retry?: readonly QueuedWrite[], obstacles?: readonly string[]) => pending[at]?.end(retry, obstacles);

const flags = { changes: false, deletes: false, behind: false, edits: false };
const add = (id: string, more: Partial<typeof flags> & { sets?: string; condition?: string; order?: number } = {}) => {
  const { changes, deletes, behind, edits, sets = '', condition = '', order } = { ...flags, ...more };
  const plan = (): WritePlan => {
    const table = tableOf(schema, 'A');
    const field = fieldOf(table, 'list');
    const assignments: Assignment[] = [];
    if (edits) assignments.push({ kind: 'edit', field, edits: [{ op: 'add', path: [], objects: [1] }] });
    if (sets) assignments.push({ kind: 'set', field, value: sets });
    const all = { kind: 'and', items: [] } as const;
    const conditions: Condition[] = condition ? [{ kind: 'absent', table, filter: all, key: condition }] : [];
    const mutation: Mutation = deletes
      ? { kind: 'delete', table, objectId: id, guard: null }
      : { kind: 'update', table, objectId: id, guard: null, assignments, returning: [] };
    const isNew = changes && !schema.tables.has('B');
    return { conditions, changes: isNew ? [{ kind: 'createTable', className: 'B' }] : [], mutations: [mutation] };
  };
  return queue.add({ plan, ...(order !== undefined && { order }) }, plan(), schema, behind);
};

test('writes of one turn share a group; while as many as may be are under way, further ones gather', async () => {
  for (const id of ['1', '2']) void add(id);
  await turn();
  void add('3');
  await turn();
  void add('4');
  await turn();
  void add('5');
  await turn();
  assert.deepEqual(now(), ['1 2', '3']);
  await end(0);
  assert.deepEqual(now(), ['3', '4 5']);
});

test('writes of one turn go in the order in which they came to the process; those of an earlier turn stay before them', async () => {
  const first = nextWriteOrder();
  const [second, third, fourth] = [nextWriteOrder(), nextWriteOrder(), nextWriteOrder()];
  void add('3', { order: third });
  void add('log', { behind: true });
  void add('1', { order: first });
  void add('4', { order: fourth });
  await turn();
  void add('2', { order: second });
  await turn();
  assert.equal(now().join(' ').replace('log ', ''), '1 3 4 2');
});

test('a delete comes after rows that are written behind, and before writes of its turn that came after it', async () => {
  const [first, second] = [nextWriteOrder(), nextWriteOrder()];
  void add('2', { order: second });
  void add('log', { behind: true });
  void add('1', { deletes: true, order: first });
  await turn();
  assert.deepEqual(now(), ['log delete:1 2']);
});

test('a group has its bound; the rest of its turn comes after it', async () => {
  for (const id of ['1', '2', '3', '4', '5', '6']) void add(id);
  await turn();
  assert.deepEqual(now(), ['1 2 3 4']);
  await end(0);
  assert.deepEqual(now(), ['5 6']);
});

test('no two groups write to one record', async () => {
  void add('1');
  await turn();
  void add('2');
  void add('1');
  await turn();
  assert.deepEqual(now(), ['1', '2']);
  await end(0);
  // A group of its turn is running.
  assert.deepEqual(now(), ['2']);
  await end(0);
  assert.deepEqual(now(), ['1']);
});

test('a change of the schema goes by itself, between what came before and after it in its turn', async () => {
  void add('1');
  void add('2', { changes: true });
  void add('3', { changes: true });
  await turn();
  assert.deepEqual(now(), ['1']);
  await end(0);
  assert.deepEqual(now(), ['change:2']);
  void add('4');
  await turn();
  // Writes of its turn wait for it, others continue.
  assert.deepEqual(now(), ['change:2', '4']);
  schema = applyChange(schema, { kind: 'createTable', className: 'B' });
  await end(0);
  assert.deepEqual(now(), ['4', '3']);
});

test('who waits for a change of the schema keeps nobody waiting but writes of their turn and to their records', async () => {
  void add('1', { changes: true });
  await turn();
  void add('2', { changes: true });
  void add('3');
  await turn();
  void add('2');
  await turn();
  void add('4');
  await turn();
  assert.deepEqual(now(), ['change:1', '4']);
  schema = applyChange(schema, { kind: 'createTable', className: 'B' });
  await end(0);
  assert.deepEqual(now(), ['4', '2 3 2']);
});

test('a delete waits for rows that are written behind', async () => {
  void add('1', { behind: true });
  await turn();
  void add('2', { deletes: true });
  await turn();
  assert.deepEqual(now(), ['1']);
  await end(0);
  assert.deepEqual(now(), ['delete:2']);
});

test('rows that are written behind keep their order, and a delete waits for all that came before it', async () => {
  void add('1', { behind: true });
  await turn();
  void add('2', { behind: true });
  void add('3', { deletes: true });
  await turn();
  void add('4');
  await turn();
  void add('5', { behind: true });
  await turn();
  assert.deepEqual(now(), ['1', '4']);
  const retry = pending[0]?.group ?? [];
  await end(0, retry);
  assert.deepEqual(now(), ['4', '1 2 delete:3 5']);
});

test('rows that are written behind keep nobody waiting but each other and deletes: a change of the schema in their turn', async () => {
  void add('1', { behind: true });
  await turn();
  void add('2', { behind: true });
  void add('3', { changes: true });
  void add('4', { behind: true });
  await turn();
  assert.deepEqual(now(), ['1', 'change:3']);
  void add('5');
  await turn();
  assert.deepEqual(now(), ['1', 'change:3', '5']);
  await end(2);
  void add('6', { deletes: true });
  await turn();
  await end(0);
  assert.deepEqual(now(), ['change:3', '2 4 delete:6']);
});

test('rows that are written behind are of no turn: neither do they keep the writes of theirs waiting, nor these them', async () => {
  for (const id of ['1', '2', '3', '4', '5']) void add(id, { behind: true });
  void add('6');
  await turn();
  assert.deepEqual(now(), ['1 2 3 4', '6']);
  await end(0);
  await end(0);
  await end(0);
  assert.deepEqual(now(), []);
  for (const id of ['1', '2', '3', '4']) void add(id);
  void add('5', { behind: true });
  await turn();
  assert.deepEqual(now(), ['1 2 3 4', '5']);
});

test('rows that are written behind keep nobody waiting: a change of the schema beside one', async () => {
  void add('1', { changes: true });
  await turn();
  void add('2', { behind: true, changes: true });
  void add('3', { behind: true });
  await turn();
  void add('4');
  await turn();
  assert.deepEqual(now(), ['change:1', '4']);
  schema = applyChange(schema, { kind: 'createTable', className: 'B' });
  await end(0);
  assert.deepEqual(now(), ['4', '2 3']);
});

test('a delete that waits for rows that are written behind keeps nobody waiting but writes of its turn and to its record', async () => {
  void add('1', { behind: true });
  await turn();
  void add('2', { deletes: true });
  void add('3');
  await turn();
  void add('2');
  void add('4');
  await turn();
  void add('5');
  await turn();
  assert.deepEqual(now(), ['1', '5']);
  await end(0);
  assert.deepEqual(now(), ['5', 'delete:2 3 2 4']);
});

test('rows that are written behind keep their order where others hold their table, and deletes there come after them', async () => {
  const held = tableObstacle(tableOf(schema, 'A').sqlName);
  void add('1', { behind: true });
  await turn();
  await end(0, pending[0]?.group, [held]);
  void add('2', { behind: true });
  await turn();
  void add('3', { deletes: true });
  await turn();
  assert.deepEqual(now(), []);
  await wait(120);
  assert.deepEqual(now(), ['1 2 delete:3']);
  await end(0);
  await queue.whenIdle();
});

test('what has to be planned again comes first', async () => {
  void add('1');
  void add('2');
  await turn();
  void add('3');
  await turn();
  void add('4');
  await turn();
  const retry = pending[0]?.group ?? [];
  await end(0, retry);
  assert.deepEqual(now(), ['3', '1 2 4']);
});

test('a write whose plan is refused under the newer schema is rejected alone', async () => {
  const first = add('1');
  const second = queue.add(
    {
      plan() {
        throw new Error('no longer');
      },
    },
    { changes: [], mutations: [] },
    schema,
  );
  schema = applyChange(schema, { kind: 'createTable', className: 'B' });
  await assert.rejects(second, { message: 'no longer' });
  assert.deepEqual(now(), ['1']);
  await end(0);
  await first;
  await queue.whenIdle();
});

test('a group has a bound on what its updates set', async () => {
  const megabytes = 'x'.repeat(9 * 1024 * 1024);
  for (const id of ['1', '2', '3']) void add(id, { sets: megabytes });
  await turn();
  assert.deepEqual(now(), ['1 2']);
});

test('conditions and edits do not share a group, the last of which may be left for another one', async () => {
  void add('1', { edits: true });
  void add('2', { condition: 'a' });
  void add('3', { condition: 'b' });
  void add('4', { edits: true });
  await turn();
  const groups: string[] = [];
  while (pending.length > 0) {
    groups.push(...now());
    await end(0);
  }
  assert.deepEqual(groups, ['1', '2 3', '4']);
});

const record = (id: string) => `record A\n${id}`;

test('who needs what others hold waits, and tries it now and then; those after them to other records go on', async () => {
  void add('1');
  void add('2');
  await turn();
  const [first] = pending;
  await end(0, first?.group, [record('1')]);
  // Within a table, the writes of a turn keep their order.
  assert.deepEqual(now(), []);
  void add('3');
  void add('1');
  await turn();
  assert.deepEqual(now(), ['3']);
  await end(0);
  await wait(120);
  // Probes both writes to the record, and the one that must follow the first.
  assert.deepEqual(now(), ['1 1']);
  void add('4');
  await turn();
  assert.deepEqual(now(), ['1 1', '4']);
  await end(0, pending[0]?.group, [record('1')]);
  await end(0);
  await wait(220);
  assert.deepEqual(now(), ['1 1']);
  await end(0);
  assert.deepEqual(now(), ['2']);
  await end(0);
  await queue.whenIdle();
});

test('a delete that is tried waits for rows that are written behind and came before it', async () => {
  void add('1');
  await turn();
  await end(0, pending[0]?.group, [record('1')]);
  void add('2');
  await turn();
  void add('3');
  await turn();
  void add('4', { behind: true });
  await turn();
  void add('1', { deletes: true });
  await turn();
  await wait(120);
  assert.deepEqual(now(), ['2', '3', '1']);
  await end(2, pending[2]?.group, [record('1')]);
  await end(0);
  assert.deepEqual(now(), ['3', '4']);
  await wait(220);
  assert.deepEqual(now(), ['3', '4', '1']);
  await end(1);
  await end(1);
  assert.deepEqual(now(), ['3', 'delete:1']);
});

test('a delete that is due is tried before further rows are written behind', async () => {
  void add('1', { deletes: true });
  await turn();
  await end(0, pending[0]?.group, [record('1')]);
  void add('2', { behind: true });
  await turn();
  void add('3', { behind: true });
  await turn();
  await wait(120);
  assert.deepEqual(now(), ['2']);
  await end(0);
  assert.deepEqual(now(), ['delete:1', '3']);
});

test('what needs several things that others hold is tried as soon as one is due', async () => {
  const table = tableOf(schema, 'A');
  const update = (objectId: string): Mutation => ({
    kind: 'update',
    table,
    objectId,
    guard: null,
    assignments: [],
    returning: [],
  });
  const plan: WritePlan = { changes: [], mutations: [update('1'), update('2')] };
  const both = queue.add({ plan: () => plan }, plan, schema);
  await turn();
  await end(0, pending[0]?.group, [record('1')]);
  await wait(120);
  assert.deepEqual(now(), ['1']);
  await end(0, pending[0]?.group, [record('1'), record('2')]);
  await wait(120);
  assert.deepEqual(now(), ['1']);
  await end(0);
  await both;
  await queue.whenIdle();
});

test('of writes of which nobody knows which one is held up each is tried by itself', async () => {
  void add('1');
  void add('2');
  await turn();
  const group = pending[0]?.group ?? [];
  for (const entry of group) entry.isSuspect = true;
  await end(0, group, [record('1'), record('2')]);
  await wait(120);
  assert.deepEqual(now(), ['1']);
  await end(0);
  assert.deepEqual(now(), ['2']);
  await end(0);
  await queue.whenIdle();
});

test('a write that is held up for too long is rejected, and nobody else', async () => {
  const held = add('1');
  held.catch(() => {});
  await turn();
  for (let round = 0; pending.length > 0 || round === 0; round++) {
    await end(0, pending[0]?.group, [record('1')]);
    await wait(450);
  }
  await assert.rejects(held, { message: 'held' });
  const other = add('2');
  await turn();
  await end(0);
  await other;
  await queue.whenIdle();
});
