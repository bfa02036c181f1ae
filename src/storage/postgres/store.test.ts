import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { JsonObject } from '../../kernel/json.ts';
import * as records from '../../records/index.ts';
import { masterContext } from '../../records/testing/context.ts';
import type { SchemaChange } from '../../schema/change.ts';
import { fieldOf, tableOf } from '../../schema/model.ts';
import type { Mutation } from '../port.ts';
import type { Statement } from '../sql/sql-writer.ts';
import { rowContext } from '../sql/testing/addresses.ts';
import { postgresDialect } from './sql/dialect.ts';
import type { PostgresStore } from './store.ts';
import type { TestDatabase } from './testing/server.ts';
import { increment, pointer, StoreProcess, schemaName, statuses, twoProcesses } from './testing/store-process.ts';
import { compileMutation } from './writes/compile-mutation.ts';

type Process = StoreProcess<Awaited<ReturnType<typeof records.createRecord>>>;

describe('PostgreSQL store', () => {
  let place: TestDatabase;
  let a: Process;
  let b: Process;
  let sql: pg.Client;

  let close: (() => Promise<void>) | undefined;

  before(async () => {
    ({ place, a, b, sql, close } = await twoProcesses(records));
  });
  after(() => close?.());

  test('a write that fails undoes itself alone, its new columns too', async () => {
    await a.create('Alone', { a: 1 });
    const outcomes = await Promise.allSettled([
      a.create('Alone', { objectId: 'first', a: 2, b: 'new' }),
      a.create('Alone', { objectId: 'first', a: 3, c: 'never' }),
      a.create('Alone', { a: 4, b: 'old' }),
    ]);
    assert.deepEqual(statuses(outcomes), ['ok', 137, 'ok']);
    assert.deepEqual([...(a.store.schema().tables.get('Alone')?.fields.keys() ?? [])].slice(6), ['a', 'b']);
    assert.equal((await a.find('Alone')).length, 3);
  });

  test('every type of value comes back as it was written, one by one and many at once', async () => {
    const values = {
      text: 'שלום "quoted" \\ back, {brace} and NULL',
      empty: '',
      number: -0.1,
      large: 1.7976931348623157e308,
      yes: true,
      no: false,
      when: { __type: 'Date', iso: '1969-12-31T23:59:59.999Z' },
      list: [1, 'two', { three: [null, '"\\'] }, 1e21],
      object: { b: 1, a: { '10': 'x', '2': 'y' } },
      to: pointer('Kept', 'some id, with "signs"'),
      ACL: { '*': { read: true } },
    };
    await a.create('Kept', { objectId: 'one', ...values });
    await Promise.all(['two', 'three', 'four'].map((objectId) => b.create('Kept', { objectId, ...values })));
    const shown = (await a.find('Kept')).map(({ objectId, createdAt, updatedAt, createdBy, updatedBy, ...rest }) => rest);
    assert.equal(shown.length, 4);
    const { ACL, ...others } = values;
    for (const record of shown) assert.equal(JSON.stringify(record), JSON.stringify({ ACL, ...others }));
  });

  test('records of one turn come in the order of their creation, whatever their fields', async () => {
    await a.create('Order', { n: -1, odd: false, text: '' });
    await Promise.all(
      Array.from({ length: 2_500 }, (_, n) =>
        a.create('Order', n % 7 < 4 ? { n } : n % 2 === 0 ? { n, text: 'x' } : { odd: true, n }),
      ),
    );
    const found = await a.find('Order');
    assert.deepEqual(
      found.map(({ n }) => n),
      Array.from({ length: 2_501 }, (_, n) => n - 1),
    );
  });

  test('of many creates the duplicates fail alone', async () => {
    const ids = ['d1', 'd2', 'd3', 'd2', 'd4', 'd1'];
    const outcomes = await Promise.allSettled(ids.map((objectId) => a.create('Twice', { objectId, n: 1 })));
    assert.deepEqual(statuses(outcomes), ['ok', 'ok', 'ok', 137, 'ok', 137]);
    const again = await Promise.allSettled(['d5', 'd4', 'd6'].map((objectId) => b.create('Twice', { objectId, n: 2 })));
    assert.deepEqual(statuses(again), ['ok', 137, 'ok']);
    assert.deepEqual(statuses(await Promise.allSettled([b.create('Twice', { objectId: 'd6', n: 3 })])), [137]);
    assert.equal((await a.find('Twice')).length, 6);
  });

  test('writes of one turn see each other', async () => {
    await a.create('Turn', { objectId: 'other', n: 0, list: ['x'], text: 'x' });
    const outcomes = await Promise.allSettled([
      a.update('Turn', 't1', { n: 1 }),
      a.create('Turn', { objectId: 't1', n: 1 }),
      a.update('Turn', 't1', increment),
      a.update('Turn', 't1', { list: { __op: 'Add', objects: [1] } }),
      a.update('Turn', 't1', { list: { __op: 'Add', objects: [2] }, fresh: 'a new column' }),
      a.update('Turn', 't1', { text: 'last' }),
      a.remove('Turn', 'other'),
      a.update('Turn', 'other', increment),
      a.update('Turn', 't1', { 'list.0': 'first' }),
    ]);
    assert.deepEqual(statuses(outcomes), [101, 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 101, 'ok']);
    const { n, list, fresh, text } = await a.get('Turn', 't1');
    assert.deepEqual({ n, list, fresh, text }, { n: 2, list: ['first', 2], fresh: 'a new column', text: 'last' });
  });

  test('the sum that leaves the range of numbers is refused, the others of its turn are not', async () => {
    await a.create('Sums', { objectId: 's', n: 1.7e308 });
    await a.create('Sums', { objectId: 't', n: 1 });
    const outcomes = await Promise.allSettled([
      a.update('Sums', 't', increment),
      a.update('Sums', 's', { n: { __op: 'Increment', amount: 1.7e308 } }),
      a.create('Sums', { n: 3 }),
    ]);
    assert.deepEqual(statuses(outcomes), ['ok', 107, 'ok']);
    await assert.rejects(a.update('Sums', 's', { n: { __op: 'Increment', amount: 1.7e308 } }), {
      message: 'the result of Increment on n is not a finite number',
    });
    assert.equal((await a.get('Sums', 't')).n, 2);
  });

  test('a write that fails takes its column with it, in the database too', async () => {
    await a.create('Refused', { objectId: 'r', n: 1 });
    await assert.rejects(a.create('Refused', { objectId: 'r', extra: 1 }), { code: 137 });
    await assert.rejects(a.update('Refused', 'nobody', { extra: 'x' }), { code: 101 });
    await b.create('Refused', { extra: 'any type still' });
    await a.create('Refused', { extra: 'seen' });
  });

  test('what is pointed at stays; a record takes its join rows with it', async () => {
    const { objectId } = await a.create('Target', { n: 1 });
    await b.create('Source', { objectId: 'src', to: pointer('Target', objectId) });
    // a has not learned of the new Pointer.
    await assert.rejects(a.remove('Target', objectId), {
      code: 119,
      message: `Pointer to Object ${objectId} exists in table Source in key to. Delete is not allowed.`,
    });
    await assert.rejects(a.remove('Target', 'nobody'), { code: 101 });
    const outcomes = await Promise.allSettled([
      a.create('Target', { objectId: 'related', n: 2 }),
      a.update('Source', 'src', { links: { __op: 'AddRelation', objects: [pointer('Target', 'related')] } }),
      a.remove('Source', 'src'),
      a.remove('Target', objectId),
      a.remove('Target', 'related'),
    ]);
    assert.deepEqual(statuses(outcomes), ['ok', 'ok', 'ok', 'ok', 'ok']);
    const { rows } = await sql.query(`SELECT count(*)::int AS n FROM "${schemaName}"."j_Source~links"`);
    assert.equal(rows[0].n, 0);
  });

  test('steps of one write take effect together or not at all, whichever of them fails', async () => {
    await a.create('Steps', { objectId: 's1', n: 1 });
    await a.create('Steps', { objectId: 's2', n: 1, to: pointer('Steps', 's1') });
    const table = () => tableOf(a.store.schema(), 'Steps');
    const n = () => fieldOf(table(), 'n');
    const insert = (objectId: string): Mutation => {
      const values = Object.entries({ objectId, createdAt: 1, updatedAt: 1, n: 0 });
      return { kind: 'insert', table: table(), values: values.map(([name, value]) => [fieldOf(table(), name), value]) };
    };
    const update = (objectId: string): Mutation => ({
      kind: 'update',
      table: table(),
      objectId,
      guard: null,
      assignments: [{ kind: 'increment', field: n(), amount: 1 }],
      returning: [n()],
    });
    const require = (value: number): Mutation => {
      const filter = { kind: 'compare', field: n(), op: 'eq', value } as const;
      return { kind: 'require', table: table(), filter };
    };
    const remove = (objectId: string): Mutation => ({ kind: 'delete', table: table(), objectId, guard: null });
    const write = (...mutations: Mutation[]) => a.store.write({ plan: () => ({ changes: [], mutations }) });
    // All in one turn: rejected writes do not affect the others.
    const outcomes = await Promise.allSettled([
      write(insert('s3'), update('s1'), update('s3')),
      write(insert('s4'), update('nobody')),
      write(insert('s5'), insert('s1')),
      write(insert('s6'), require(77)),
      write(insert('s7'), remove('s1')),
      write(insert('s8'), remove('nobody')),
      write(require(2), insert('s9'), remove('s2')),
      write(update('s1'), remove('s1')),
    ]);
    assert.deepEqual(statuses(outcomes), ['ok', 101, 137, 101, 119, 101, 'ok', 'ok']);
    assert.deepEqual((outcomes[0] as PromiseFulfilledResult<unknown>).value, { returned: ',"n":2,"n":1' });
    assert.deepEqual((await a.find('Steps')).map(({ objectId }) => objectId).sort(), ['s3', 's9']);
  });

  test('an exclusive requirement waits for those who require the record, and sees what they wrote', async () => {
    await a.create('Owner', { objectId: 'o1' });
    await a.create('Owned', { objectId: 'first', owner: 'o1' });
    const tableIn = (className: string) => tableOf(a.store.schema(), className);
    const is = (className: string, name: string) =>
      ({ kind: 'compare', field: fieldOf(tableIn(className), name), op: 'eq', value: 'o1' }) as const;
    await sql.query('BEGIN');
    await sql.query(`SELECT 1 FROM "${schemaName}"."t_Owner" FOR SHARE`);
    let isDone = false;
    const removed = a.store
      .write({
        plan: () => ({
          changes: [],
          mutations: [
            { kind: 'require', table: tableIn('Owner'), filter: is('Owner', 'objectId'), exclusive: true },
            { kind: 'deleteAll', table: tableIn('Owned'), filter: is('Owned', 'owner') },
          ],
        }),
      })
      .then(() => {
        isDone = true;
      });
    for (let waiting = 0; waiting === 0 && !isDone; await pause(5)) {
      // Other tests use the same server.
      const { rows } = await sql.query(`SELECT count(*)::int AS n FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE NOT granted AND datname = current_database()`);
      waiting = rows[0].n;
    }
    await sql.query(
      `INSERT INTO "${schemaName}"."t_Owned" ("objectId", "createdAt", "updatedAt", owner)
       SELECT 'second', "createdAt", "updatedAt", owner FROM "${schemaName}"."t_Owned"`,
    );
    assert.equal(isDone, false);
    await sql.query('COMMIT');
    await removed;
    assert.deepEqual(await a.find('Owned'), []);
  });

  test('a delete that waits for who has its record sees what they wrote', async () => {
    const to = pointer('Awaited', 'another');
    await a.create('Awaiting', { objectId: 'source', to, links: { __op: 'AddRelation', objects: [to] } });
    await a.create('Beside', { n: 1 });
    const tableIn = (className: string) => tableOf(a.store.schema(), className);
    const drop = (objectId: string): Mutation => ({ kind: 'delete', table: tableIn('Awaited'), objectId, guard: null });
    const update: Mutation = {
      kind: 'updateAll',
      table: tableIn('Beside'),
      filter: { kind: 'always' },
      assignments: [{ kind: 'set', field: fieldOf(tableIn('Beside'), 'n'), value: 2 }],
    };
    const write = (mutations: Mutation[], changes: SchemaChange[] = []) =>
      a.store.write({ plan: () => ({ changes, mutations }) });
    const grow = { kind: 'addField', className: 'Beside', name: 'more', type: 'String' } as const;
    const whenSomebodyWaits = async () => {
      const asked = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      while ((await sql.query(asked)).rows.length === 0) await pause(5);
    };
    const ways = {
      alone: () => a.remove('Awaited', 'alone'),
      among: () => write([update, drop('among')]),
      growing: () => write([drop('growing')], [grow]),
    };
    for (const [objectId, remove] of Object.entries(ways)) {
      await a.create('Awaited', { objectId });
      await sql.query('BEGIN');
      await sql.query(`SELECT 1 FROM "${schemaName}"."t_Awaited" FOR UPDATE`);
      const removed = Promise.allSettled([remove()]);
      await whenSomebodyWaits();
      await sql.query(
        `INSERT INTO "${schemaName}"."t_Awaiting" ("objectId", "createdAt", "updatedAt", "to")
         SELECT '${objectId}', "createdAt", "updatedAt", '${objectId}' FROM "${schemaName}"."t_Awaiting" WHERE "objectId" = 'source'`,
      );
      await sql.query('COMMIT');
      assert.deepEqual(statuses(await removed), [119], objectId);
    }
    await a.remove('Awaiting', 'alone');
    await sql.query('BEGIN');
    await sql.query(`SELECT 1 FROM "${schemaName}"."t_Awaited" FOR UPDATE`);
    const removed = a.remove('Awaited', 'alone');
    await whenSomebodyWaits();
    await sql.query(`INSERT INTO "${schemaName}"."j_Awaiting~links" (owner, member) VALUES ('source', 'alone')`);
    await sql.query('COMMIT');
    await removed;
    const { rows } = await sql.query(`SELECT member FROM "${schemaName}"."j_Awaiting~links"`);
    assert.deepEqual(rows, [{ member: 'another' }]);
  });

  test('a delete leaves a record that was changed between what it sees and its lock', async () => {
    await a.create('Changing', { objectId: 'c1', n: 1 });
    await a.create('Changing', { objectId: 'c2', to: pointer('Changing', 'another') });
    const table = tableOf(a.store.schema(), 'Changing');
    const context = { ...rowContext, dialect: postgresDialect(schemaName), isCoordinator: false };
    const step = compileMutation({ kind: 'delete', table, objectId: 'c1', guard: null }, a.store.schema(), context, false);
    const [{ text, params }] = step.statements as [Statement];
    const [first, ...others] = text.split(' AS t WHERE ');
    const slow = `${first} AS t, (SELECT pg_sleep(0.5)) AS pause WHERE ${others.join(' AS t WHERE ')}`;
    const removed = sql.query({ text: slow, values: [...params], rowMode: 'array' });
    await pause(100);
    await b.update('Changing', 'c1', { n: 2 });
    const { rows } = await removed;
    assert.deepEqual(rows, [[-1, '0']]);
    assert.equal(step.mustRetryLocked?.([{ rows: [[-1, 0]], affected: 1 }]), true);
    assert.equal((await a.get('Changing', 'c1')).n, 2);
    await a.remove('Changing', 'c1');
  });

  test('full text finds what is written in every way', async () => {
    await a.create('Texts', { objectId: 'x1', text: 'Crème brûlée' });
    await a.store.write({
      plan: () => ({ changes: [{ kind: 'setTextIndex', className: 'Texts', fields: ['text'] }], mutations: [] }),
    });
    await Promise.all(['x2', 'x3'].map((objectId) => a.create('Texts', { objectId, text: `a "creme" of \\ ${objectId} it's` })));
    await a.create('Texts', { objectId: 'x4', text: 'nothing' });
    await a.update('Texts', 'x4', { text: 'CRÈME' });
    await a.update('Texts', 'x2', { text: 'gone' });
    const where = JSON.stringify({ text: { $text: { $search: { $term: 'creme' } } } });
    await b.follow();
    assert.deepEqual(
      (await b.find('Texts', { where, order: 'objectId' })).map(({ objectId }) => objectId),
      ['x1', 'x3', 'x4'],
    );
  });

  test('a value that an index cannot hold is refused alone', async () => {
    const text = Array.from({ length: 4_000 }, () => Math.random().toString(36)).join('');
    const outcomes = await Promise.allSettled([
      a.create('Large', { objectId: text, n: 1 }),
      a.create('Large', { objectId: 'l', n: 1, text }),
      a.create('Large', { objectId: `${text}2`, n: 1 }),
    ]);
    assert.deepEqual(statuses(outcomes), [116, 'ok', 116]);
  });

  test('what nobody waits for is written soon, and before a delete', async () => {
    await a.create('Logs', { objectId: 'first', to: pointer('Logged', 'l1') });
    await a.create('Logged', { objectId: 'l1' });
    await a.create('Logged', { objectId: 'l2' });
    const behind = (objectId: string, to: string) =>
      a.store.writeBehind({
        plan(schema) {
          const table = tableOf(schema, 'Logs');
          const values = Object.entries({ objectId, createdAt: 1, updatedAt: 1, to }).map(
            ([name, value]) => [fieldOf(table, name), value] as const,
          );
          return { changes: [], mutations: [{ kind: 'insert', table, values }] };
        },
      });
    behind('second', 'l2');
    await assert.rejects(a.remove('Logged', 'l2'), { code: 119 });
    behind('second', 'l2');
    behind('third', 'l2');
    await new Promise((resolve) => setTimeout(resolve, 400));
    await b.follow();
    assert.equal((await b.find('Logs')).length, 3);
    assert.deepEqual(a.reported, [
      '1 writes that nobody waits for failed: A duplicate value for a field with unique values was provided',
    ]);
  });

  test('many writes in one commit: each fails alone, others do not see them before, and a throw undoes them', async () => {
    await a.create('Loaded', { objectId: 'there', n: 0 });
    await b.follow();
    const createIn = (
      store: PostgresStore['bulkTransaction'] extends (work: (store: infer S) => any) => any ? S : never,
      body: JsonObject,
    ) => records.createRecord(masterContext(store), 'Loaded', body);
    const outcomes = await a.store.bulkTransaction(async (store) => {
      const done = await Promise.allSettled([
        ...Array.from({ length: 3_000 }, (_, n) => createIn(store, { n })),
        createIn(store, { objectId: 'there', n: 1 }),
      ]);
      assert.equal((await b.find('Loaded')).length, 1);
      return [...done, ...(await Promise.allSettled([createIn(store, { n: 1, grown: 'x' }), createIn(store, { grown: true })]))];
    });
    assert.deepEqual(statuses(outcomes).slice(2_998), ['ok', 'ok', 137, 'ok', 111]);
    assert.equal((await b.find('Loaded')).length, 3_002);
    const failing = a.store.bulkTransaction(async (store) => {
      await createIn(store, { objectId: 'gone', other: 'y' });
      throw new Error('no');
    });
    await assert.rejects(failing, { message: 'no' });
    assert.equal(tableOf(a.store.schema(), 'Loaded').fields.has('other'), false);
    await assert.rejects(a.get('Loaded', 'gone'), { code: 101 });
    await a.create('Loaded', { other: 5, n: 7 });
  });

  test('a store that is closed has carried out what came, and refuses what comes', async () => {
    const c = await StoreProcess.start(place.url, records);
    const writes = Promise.all(Array.from({ length: 20 }, (_, n) => c.create('Closing', { n })));
    await new Promise((resolve) => setImmediate(resolve));
    await c.store.close();
    await writes;
    await assert.rejects(c.create('Closing', { n: 1 }), { status: 503 });
    await c.database.close();
    await a.follow();
    assert.equal((await a.find('Closing')).length, 20);
  });
});
