import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type pg from 'pg';
import * as records from '../../records/index.ts';
import { tableOf } from '../../schema/model.ts';
import { channel } from './cluster/invalidation.ts';

import { increment, type StoreProcess, schemaName, statuses, twoProcesses } from './testing/store-process.ts';

type Process = StoreProcess<Awaited<ReturnType<typeof records.createRecord>>>;

describe('PostgreSQL store, two processes', () => {
  let a: Process;
  let b: Process;
  let sql: pg.Client;

  let close: (() => Promise<void>) | undefined;

  before(async () => {
    ({ a, b, sql, close } = await twoProcesses(records));
  });
  after(() => close?.());

  test('Increments and edits of two processes are exact', async () => {
    await a.create('Count', { objectId: 'c1', n: 0, list: [] });
    await a.create('Count', { objectId: 'c2', n: 0, list: [] });
    await b.follow();
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, at) => {
        const process = at % 2 === 0 ? a : b;
        const id = at % 3 === 0 ? 'c1' : 'c2';
        return at % 5 === 0
          ? process.update('Count', id, { list: { __op: 'AddUnique', objects: [at] } })
          : process.update('Count', id, increment);
      }),
    );
    const [one, two] = [await a.get('Count', 'c1'), await b.get('Count', 'c2')];
    assert.equal((one.n as number) + (two.n as number), 240);
    assert.equal((one.list as unknown[]).length + (two.list as unknown[]).length, 60);
    // Every value was returned once.
    const returned = answers.filter((answer) => Object.hasOwn(answer, 'n')).map((answer) => `${answer.objectId}${answer.n}`);
    assert.equal(new Set(returned).size, 240);
  });

  test('a schema that another process has changed meanwhile is met by writes', async () => {
    await a.create('Grown', { n: 1 });
    await b.follow();
    await a.create('Grown', { n: 2, text: 'x' });
    await a.change('Grown', { fields: { n: { __op: 'Delete' } } });
    // b does not know the field yet.
    await assert.rejects(b.create('Grown', { text: ['none'], n: 'a String' }), { code: 111 });
    await b.create('Grown', { text: 'y', n: 'is a String now' });
    await assert.rejects(a.create('Grown', { n: 5, text: { no: 'text' } }), { code: 111 });
    assert.equal((await a.find('Grown')).length, 3);
    assert.equal(b.store.schema().tables.get('Grown')?.fields.get('n')?.type, 'String');
  });

  test('both processes add a field at once: one column; with two types one of them is refused', async () => {
    await a.create('Both', { n: 1 });
    await b.create('Both', { n: 2 });
    const same = await Promise.allSettled([a, b, a, b].map((process, n) => process.create('Both', { n, same: 'x' })));
    assert.deepEqual(statuses(same), ['ok', 'ok', 'ok', 'ok']);
    await a.follow();
    const unlike = await Promise.allSettled([a.create('Both', { unlike: 'text' }), b.create('Both', { unlike: true })]);
    assert.deepEqual(statuses(unlike).toSorted(), [111, 'ok']);
    const fresh = await Promise.allSettled([a.create('Fresh', { n: 1 }), b.create('Fresh', { n: 2 })]);
    assert.deepEqual(statuses(fresh), ['ok', 'ok']);
    const { rows } = await sql.query(
      `SELECT count(*)::int AS n FROM information_schema.columns WHERE table_name = 't_Both' AND column_name IN ('same', 'unlike')`,
    );
    assert.equal(rows[0].n, 2);
  });

  test('a record that another transaction is changing is deleted, or counted up, as it is then', async () => {
    await Promise.all(['w1', 'w2', 'w3'].map((objectId) => a.create('Waits', { objectId, n: 1, list: [1] })));
    const table = `"${schemaName}"."t_Waits"`;
    await sql.query(`BEGIN; UPDATE ${table} SET n = 10, list = '[10]'; DELETE FROM ${table} WHERE "objectId" = 'w3'`);
    const add = { list: { __op: 'Add', objects: [2] } };
    const outcomes = Promise.allSettled([
      a.remove('Waits', 'w1'),
      a.update('Waits', 'w2', increment),
      a.update('Waits', 'w2', add),
      a.update('Waits', 'w3', add),
    ]);
    const alone = Promise.allSettled([b.follow().then(() => b.update('Waits', 'w3', increment))]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await sql.query('COMMIT');
    assert.deepEqual(statuses([...(await outcomes), ...(await alone)]), ['ok', 'ok', 'ok', 101, 101]);
    assert.deepEqual(
      (await a.find('Waits')).map(({ objectId, n, list }) => ({ objectId, n, list })),
      [{ objectId: 'w2', n: 11, list: [10, 2] }],
    );
    await a.create('Waits', { objectId: 'w4' });
    await sql.query(`BEGIN; UPDATE ${table} SET n = 10 WHERE "objectId" = 'w4'`);
    const removed = a.remove('Waits', 'w4');
    await new Promise((resolve) => setTimeout(resolve, 50));
    await sql.query('COMMIT');
    await removed;
    assert.equal((await a.find('Waits')).length, 1);
  });

  test('crossing updates of two processes all go through', async () => {
    const ids = ['x1', 'x2', 'x3', 'x4'];
    await Promise.all(ids.map((objectId) => a.create('Cross', { objectId, n: 0 })));
    await b.follow();
    // A create that adds nothing but ends the run, so that the updates are not reordered.
    const batch = (process: Process, order: readonly string[]) =>
      Promise.all(
        order.flatMap((id) => [process.update('Cross', id, increment), process.remove('Cross', `no ${id}`).catch(() => {})]),
      );
    await Promise.all(Array.from({ length: 5 }, () => [batch(a, ids), batch(b, ids.toReversed())]).flat());
    assert.deepEqual(
      (await a.find('Cross')).map(({ n }) => n),
      [10, 10, 10, 10],
    );
  });

  test('what other processes remember is invalidated', async () => {
    const returned: string[] = [];
    sql.on('notification', ({ payload }) => returned.push(payload ?? ''));
    await sql.query(`LISTEN ${channel}`);
    await a.create('Told', { n: 1 });
    await a.create('Told', { n: 2 });
    await a.create('Config', { Name: 'x', Value: 'y' });
    await a.create('Config', { Name: 'z', Value: 'y' });
    await Promise.all(['p', 'q'].map((Name) => a.create('Config', { Name, Value: 'y' })));
    await sql.query(`UNLISTEN ${channel}`);
    const seen = returned.map((text) => JSON.parse(text)).map(({ s, c, t }) => ({ s, c, t }));
    // Writes to tables that are not watched are announced separately, with a delay.
    const ofCommits = seen.filter(({ c, t }) => c || t.includes('Config'));
    assert.deepEqual(ofCommits, [
      { s: schemaName, c: true, t: [] },
      { s: schemaName, c: true, t: ['Config'] },
      { s: schemaName, c: false, t: ['Config'] },
      { s: schemaName, c: false, t: ['Config'] },
    ]);
    const before = b.store.tableVersion('Config');
    b.store.invalidated({ schemaChanged: true, tables: ['Config'] });
    assert.notEqual(b.store.tableVersion('Config'), before);
    assert.equal(b.store.isCurrent(), false);
    await b.store.whenCurrent();
    assert.ok(b.store.schema().tables.has('Told'));
  });

  test('a table that was not changed keeps what is compiled for it', async () => {
    await b.follow();
    const table = tableOf(b.store.schema(), 'Count');
    await a.create('Elsewhere', { n: 1 });
    await b.create('Elsewhere', { n: 2, text: 'x' });
    assert.equal(tableOf(b.store.schema(), 'Count'), table);
    assert.equal(
      b.store
        .schema()
        .referencesTo.get('_User')
        ?.find((one) => one.table.className === 'Count')?.table,
      table,
    );
  });

  test('a large table gets an index and loses a column while both write', async () => {
    await Promise.all(Array.from({ length: 5_000 }, (_, n) => a.create('Wide', { n, old: 'x' })));
    const changed = a.change('Wide', { fields: { old: { __op: 'Delete' } }, indexes: { byN: { n: 1 } } });
    const written = Promise.all(Array.from({ length: 200 }, (_, n) => (n % 2 ? a : b).create('Wide', { n: 5_000 + n })));
    await Promise.all([changed, written]);
    await b.follow();
    assert.equal((await b.find('Wide')).length, 5_200);
    assert.equal(tableOf(a.store.schema(), 'Wide').fields.has('old'), false);
  });

  test('connections that are cut: what was acknowledged is there, once; then all goes on', async () => {
    await a.create('Cut', { objectId: 'cut', n: 0 });
    await b.follow();
    let acknowledged = 0;
    let lost = 0;
    let cutting = true;
    const cut = async () => {
      while (cutting) {
        await sql.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
        );
        await new Promise((resolve) => setTimeout(resolve, 60));
      }
    };
    const cuts = cut();
    const until = performance.now() + 1_500;
    await Promise.all(
      [a, b, a, b].map(async (process) => {
        while (performance.now() < until)
          try {
            await process.update('Cut', 'cut', increment);
            acknowledged++;
          } catch (error) {
            // A pending COMMIT may have been executed.
            assert.match(String((error as { key?: string }).key), /^(unavailable|outcomeUnknown)$/, String(error));
            lost++;
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
      }),
    );
    cutting = false;
    await cuts;
    await new Promise((resolve) => setTimeout(resolve, 600));
    const { n } = await a.get('Cut', 'cut');
    assert.ok((n as number) >= acknowledged && (n as number) <= acknowledged + lost, `${acknowledged} of ${n}, lost ${lost}`);
    await Promise.all([a.update('Cut', 'cut', increment), b.update('Cut', 'cut', increment)]);
    assert.equal((await b.get('Cut', 'cut')).n, (n as number) + 2);
  });
});
