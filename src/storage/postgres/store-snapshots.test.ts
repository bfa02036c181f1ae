import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type pg from 'pg';
import * as records from '../../records/index.ts';
import { fieldOf, type TableSchema, tableOf } from '../../schema/model.ts';
import type { StoredValue } from '../../values/types/type.ts';
import { assignmentsOf, columnFields, columnsOf, snapshotValues } from '../column-values.ts';
import type { Mutation } from '../port.ts';
import { tableChanges } from '../sql/testing/tables.ts';
import { channel } from './cluster/invalidation.ts';
import { type StoreProcess, schemaName, twoProcesses } from './testing/store-process.ts';

type Process = StoreProcess<Awaited<ReturnType<typeof records.createRecord>>>;

describe('PostgreSQL store, two processes: snapshots', () => {
  let a: Process;
  let b: Process;
  let sql: pg.Client;
  let close: (() => Promise<void>) | undefined;
  let made = 0;

  before(async () => {
    ({ a, b, sql, close } = await twoProcesses(records));
    const changes = [
      ...tableChanges('Seen', { n: 'Number', list: 'Array', by: 'String' }),
      ...tableChanges('_Queue', { of: 'String', before: 'Boolean', record: 'String' }),
      ...tableChanges('_Told', { of: 'String', n: 'Number' }),
    ];
    await a.store.write({ plan: () => ({ changes, mutations: [] }) });
    await b.follow();
  });
  after(() => close?.());

  const write = ({ store }: Process, ...mutations: Mutation[]) => store.write({ plan: () => ({ changes: [], mutations }) });
  const table = (process: Process, name: string): TableSchema => tableOf(process.store.schema(), name);
  const lists = new Map<TableSchema, ReturnType<typeof columnFields>>();
  const fieldsOf = (of: TableSchema) => {
    const fields = lists.get(of) ?? columnFields(of);
    lists.set(of, fields);
    return fields;
  };
  const insert = (process: Process, className: string, id: string, values: Record<string, StoredValue>) => {
    const into = table(process, className);
    const stored = columnsOf(into, { objectId: id, createdAt: ++made, updatedAt: made, ...values });
    return { kind: 'insert', table: into, values: stored } as const;
  };
  const snapshot = (process: Process, objectId: string, isBefore: boolean): Mutation => {
    const from = table(process, 'Seen');
    const to = fieldOf(table(process, '_Queue'), 'record');
    const row = insert(process, '_Queue', `job${++made}`, { of: objectId, before: isBefore });
    return { ...row, isNote: true, source: { kind: 'snapshot', from, objectId, fields: fieldsOf(from), to } };
  };
  const count = (process: Process, objectId: string, edits: boolean): Mutation => {
    const from = table(process, 'Seen');
    const [n, list] = [fieldOf(from, 'n'), fieldOf(from, 'list')];
    const edit = { kind: 'edit', field: list, edits: [{ path: [], op: 'add', objects: [1] }] } as const;
    const increment = { kind: 'increment', field: n, amount: 1 } as const;
    return {
      ...{ kind: 'update', table: from, objectId, guard: null, returning: [] },
      assignments: edits ? [increment, edit] : [increment],
    };
  };
  const told = (process: Process, objectId: string): Mutation => {
    const fields = [[fieldOf(table(process, '_Told'), 'n'), fieldOf(table(process, 'Seen'), 'n')]] as const;
    const row = insert(process, '_Told', `told${++made}`, { of: objectId });
    return { ...row, isNote: true, source: { kind: 'copy', from: table(process, 'Seen'), objectId, fields } };
  };
  /** Returns the counts in the snapshots of a record, in the order of their rows. */
  const counts = async (objectId: string, isBefore: boolean) => {
    const { rows } = await sql.query(
      `SELECT record FROM "${schemaName}"."t__Queue" WHERE "of" = $1 AND "before" = $2 ORDER BY "_seq"`,
      [objectId, isBefore],
    );
    const fields = fieldsOf(table(a, 'Seen'));
    const at = fields.findIndex(({ name }) => name === 'n');
    return rows.map(({ record }) => snapshotValues(record, fields)[at] as number);
  };
  const sorted = (numbers: readonly number[]) => numbers.toSorted((x, y) => x - y);
  const upTo = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

  test('each snapshot before is the one after the write before it, by any process', async () => {
    const ids = ['p1', 'p2', 'p3'];
    await write(a, ...ids.map((id) => insert(a, 'Seen', id, { n: 0, list: '[]' })));
    const work = async (process: Process, shift: number) => {
      for (let round = 0; round < 20; round++) {
        const turn = upTo(0, 8).map((at) => {
          const id = ids[(at * (shift + 1) + round) % 3] as string;
          const isEdit = (at + round) % 4 === 0;
          return write(
            process,
            snapshot(process, id, true),
            count(process, id, isEdit),
            told(process, id),
            snapshot(process, id, false),
          );
        });
        await Promise.all(turn);
      }
    };
    await Promise.all([work(a, 0), work(b, 1)]);
    let all = 0;
    for (const id of ids) {
      const [befores, afters] = [await counts(id, true), await counts(id, false)];
      const { n } = await a.get('Seen', id);
      all += n as number;
      assert.deepEqual(sorted(afters), upTo(1, n as number));
      assert.deepEqual(sorted(befores), upTo(0, (n as number) - 1));
      // Rows are in the order of the record's changes.
      assert.deepEqual(afters, sorted(afters));
      assert.deepEqual(befores, sorted(befores));
    }
    assert.equal(all, 2 * 20 * 9);
  });

  test('snapshots by themselves: nobody changes the record until the commit', async () => {
    await write(a, insert(a, 'Seen', 'held', { n: 0 }));
    const both = async (process: Process, isWriter: boolean) => {
      for (let at = 0; at < 40; at++)
        if (isWriter) await write(process, count(process, 'held', false), snapshot(process, 'held', false));
        else await write(process, snapshot(process, 'held', true), ...upTo(1, 5).map(() => snapshot(process, 'held', true)));
    };
    await Promise.all([both(a, true), both(b, false)]);
    const befores = await counts('held', true);
    assert.equal(befores.length, 240);
    // The six snapshots of one write are equal.
    for (let at = 0; at < befores.length; at += 6) assert.equal(new Set(befores.slice(at, at + 6)).size, 1);
    assert.deepEqual(await counts('held', false), upTo(1, 40));
  });

  test('a snapshot waits for a transaction that is changing the record, and shows what it left', async () => {
    await write(a, insert(a, 'Seen', 'late', { n: 1 }), insert(a, 'Seen', 'gone', { n: 1 }));
    const seen = `"${schemaName}"."t_Seen"`;
    await sql.query(`BEGIN; UPDATE ${seen} SET n = 7 WHERE "objectId" = 'late'; DELETE FROM ${seen} WHERE "objectId" = 'gone'`);
    const done = Promise.all(['late', 'gone'].map((id) => write(a, snapshot(a, id, true))));
    await new Promise((resolve) => setTimeout(resolve, 100));
    await sql.query('COMMIT');
    await done;
    assert.deepEqual([await counts('late', true), await counts('gone', true)], [[7], []]);
  });

  test('updateAll: of two processes that take rows over each row falls to one; watched tables are announced', async () => {
    const owned = { kind: 'and', items: [] } as const;
    await write(a, ...upTo(1, 50).map((at) => insert(a, 'Seen', `t${at}`, { by: 'dead' })));
    const takeOver = (process: Process, by: string): Mutation => {
      const seen = table(process, 'Seen');
      const filter = { kind: 'compare', field: fieldOf(seen, 'by'), op: 'eq', value: 'dead' } as const;
      return { kind: 'updateAll', table: seen, filter: { ...owned, items: [filter] }, assignments: assignmentsOf(seen, { by }) };
    };
    await Promise.all([a, b].map((process, at) => write(process, takeOver(process, `p${at}`))));
    const { rows } = await sql.query(`SELECT DISTINCT "by" FROM "${schemaName}"."t_Seen" WHERE "objectId" LIKE 't%'`);
    assert.equal(rows.length, 1);
    await a.create('Config', { Name: 'x', Value: 'y' });
    const payloads: string[] = [];
    sql.on('notification', ({ payload }) => payloads.push(payload ?? ''));
    await sql.query(`LISTEN ${channel}`);
    const config = table(a, 'Config');
    await write(a, {
      kind: 'updateAll',
      table: config,
      filter: { kind: 'always' },
      assignments: assignmentsOf(config, { Value: 'z' }),
    });
    await sql.query(`UNLISTEN ${channel}`);
    assert.deepEqual(payloads.map((text) => JSON.parse(text).t), [['Config']]); // biome-ignore format: one comparison
  });
});
