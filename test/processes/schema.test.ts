/** Tables and fields that one process makes, changes and drops, as another process sees them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused, date, mismatch, path, pointer, unique } from '../support/records.ts';
import { soon } from '../support/soon.ts';
import { both, describeProcesses, ROUNDS, sorted, times, together, warm } from './processes.ts';

describeProcesses('schema over two processes', (stores) => {
  const [a, b] = both(stores);
  const change = (store: typeof a, table: string, body: object) =>
    store.call('PUT', `/platform/schemas/${table}`, { body: { className: table, ...body } });
  const drop = (store: typeof a, table: string, field: string) =>
    change(store, table, { fields: { [field]: { __op: 'Delete' } } });

  test('a table made on one is written to at once and listed within a second on the other', async () => {
    const table = unique('T');
    assert.equal(await b.fields(table), undefined);
    assert.deepEqual(await b.all(table), []);
    await a.table({ S: 'String', N: 'Number' }, table);
    assert.equal((await b.post(table, { S: 'from b', N: 1 })).status, 201);
    await soon(async () => assert.equal((await b.fields(table))?.N?.type, 'Number'));
    await soon(async () => assert.equal((await a.all(table)).length, 1));
    assertRefused(await b.post(table, { N: 'text' }), mismatch(table, 'N', 'Number', 'String'));
  });

  test('a field added by a write on one: the other reads, filters and orders by it within a second', async () => {
    const table = await a.table({ S: 'String' });
    const id = await a.create(table, { S: 'x' });
    const query = (where: object) => b.call('GET', path(table), { query: { where, order: '-Fresh' } });
    await warm(() => query({ Fresh: 5 }));
    await a.update(table, id, { Fresh: 5 });
    await soon(async () => assert.equal((await query({ Fresh: 5 })).body.results.length, 1));
    assert.equal((await b.read(table, id)).Fresh, 5);
    assert.equal((await b.fields(table)).Fresh.type, 'Number');
  });

  test('a field added on one is written on the other at once: same type 200, another type 111, no column twice', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const table = await a.table();
      const id = await b.create(table, {});
      await a.create(table, { Fresh: round });
      assertRefused(await b.put(table, id, { Fresh: 'text' }), mismatch(table, 'Fresh', 'Number', 'String'));
      assert.equal((await b.put(table, id, { Fresh: 1.5 })).status, 200);
      assert.equal((await b.read(table, id)).Fresh, 1.5);
    }
  });

  test('both add the same field at once with the same type: all are written, one column', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const table = await a.table();
      await soon(async () => assert.ok(await b.fields(table)));
      const { done } = sorted(await times(20, (n) => (n % 2 ? a : b).post(table, { Fresh: n })));
      assert.equal(done.length, 20);
      for (const store of [a, b])
        await soon(async () =>
          assert.deepEqual(
            (await store.all(table)).map(({ Fresh }) => Fresh).sort((x, y) => x - y),
            [...Array(20).keys()],
          ),
        );
    }
  });

  test('both add the same field at once with different types: one type wins, the other writes are 111', async () => {
    for (let round = 0; round < 2 * ROUNDS; round++) {
      const table = await a.table();
      const values = [true, { x: 1 }, ['x'], date('2024-05-06T07:08:09.010Z')];
      const answers = await times(8, (n) => (n % 2 ? a : b).post(table, { Fresh: values[n % 4] }));
      const { done, refused } = sorted(answers);
      assert.equal(done.length, 2, answers.map(({ text }) => text).join('\n'));
      for (const answer of refused)
        assertRefused(answer, { code: 111, error: new RegExp(`^schema mismatch for ${table}.Fresh; expected `) });
      await soon(async () => assert.equal((await b.all(table)).length, 2));
    }
  });

  test('both make a table at once, by a schema and by writes: one table, with the fields of both', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const table = unique('T');
      const { done } = sorted(await times(8, (n) => (n % 2 ? a : b).post(table, { [`F${n}`]: n, Same: n })));
      assert.equal(done.length, 8);
      for (const store of [a, b])
        await soon(async () =>
          assert.deepEqual(
            [(await store.all(table)).length, Object.keys(await store.fields(table)).filter((name) => /^F\d$/.test(name)).length],
            [8, 8],
          ),
        );
      const other = unique('T');
      const { done: made, refused } = sorted(
        await times(6, (n) => (n % 2 ? a : b).call('POST', `/platform/schemas/${other}`, { body: { className: other } })),
      );
      assert.equal(made.length, 1);
      for (const answer of refused) assertRefused(answer, { code: 103 });
    }
  });

  test('a field dropped on one while the other writes it, and added again with another type', async () => {
    const table = await a.table();
    await a.create(table, { Gone: 1 });
    let over = false;
    const writing = together(4, async () => {
      const statuses: number[] = [];
      while (!over) {
        const answer = await b.post(table, { Gone: statuses.length });
        if (answer.status !== 201) assertRefused(answer, { code: 111 });
        statuses.push(answer.status);
      }
      return statuses;
    });
    // If no write has made it since, it does not exist.
    const dropped = async () => {
      const answer = await drop(a, table, 'Gone');
      if (answer.status !== 200) assertRefused(answer, { code: 255 });
    };
    try {
      for (let round = 0; round < 2 * ROUNDS; round++) await dropped();
    } finally {
      over = true;
    }
    await writing;
    await dropped();
    await soon(async () => {
      assert.ok(!('Gone' in (await b.fields(table))));
      for (const record of await b.all(table)) assert.ok(!('Gone' in record));
    });
    const id = await a.create(table, { Gone: 'text' });
    assert.equal((await b.put(table, id, { Gone: 'other text' })).status, 200);
    assertRefused(await b.put(table, id, { Gone: true }), mismatch(table, 'Gone', 'String', 'Boolean'));
    await soon(async () => {
      const { body, text } = await b.call('GET', path(table), { query: { where: { Gone: 'other text' } } });
      assert.equal(body.results?.length, 1, text);
    });
    assert.equal((await b.all(table)).filter((record) => 'Gone' in record).length, 1, 'old values do not come back');
  });

  test('a field dropped on one while the other reads it: rows or none of it, and no fault', async () => {
    const table = await a.table({ S: 'String', Gone: 'Number' });
    await times(20, (n) => a.create(table, { S: 's', Gone: n }));
    let over = false;
    const reading = together(4, async () => {
      while (!over) {
        const answer = await b.call('GET', path(table), { query: { where: { Gone: { $gte: 0 } }, order: 'Gone' } });
        assert.equal(answer.status, 200, answer.text);
      }
    });
    try {
      for (let round = 0; round < 5; round++) {
        assert.equal((await drop(a, table, 'Gone')).status, 200);
        assert.equal((await change(a, table, { fields: { Gone: { type: round % 2 ? 'Number' : 'String' } } })).status, 200);
      }
    } finally {
      over = true;
    }
    await reading;
  });

  test('a table dropped on one: the other answers as for a table that never was, and makes it again', async () => {
    const table = await a.table({ S: 'String' });
    const id = await b.create(table, { S: 'x' });
    await warm(() => b.get(table, id));
    assert.equal((await a.remove(table, id)).status, 200);
    assert.equal((await a.call('DELETE', `/platform/schemas/${table}`)).status, 200);
    await soon(async () => assert.equal(await b.fields(table), undefined));
    assert.deepEqual(await b.all(table), []);
    assertRefused(await b.get(table, id), { code: 101, error: 'Object not found.' });
    assertRefused(await b.put(table, id, { S: 'y' }), { code: 101, error: 'Object not found.' });
    assert.equal((await b.post(table, { S: 5, N: true })).status, 201);
    await soon(async () => assert.equal((await a.fields(table))?.N?.type, 'Boolean'));
    await soon(async () => assert.equal((await a.fields(table))?.S?.type, 'Number'));
  });

  test('the delete guard looks through a Pointer field that the other process has just added', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const target = await a.table();
      const ids = await times(4, () => a.create(target, {}));
      await warm(() => a.get(target, ids[0] ?? ''));
      const source = unique('S');
      for (const [n, id] of ids.entries()) {
        const answer = await b.post(source, { [`To${n}`]: pointer(target, id) });
        assert.equal(answer.status, 201, answer.text);
        assertRefused(await a.remove(target, id), { code: 119 });
      }
    }
  });

  test('a record is pointed at and deleted at once: one comes after the other', async () => {
    const target = await a.table();
    const source = await a.table({ To: { type: 'Pointer', targetClass: target } });
    for (let round = 0; round < 2 * ROUNDS; round++) {
      const id = await a.create(target, {});
      const [removed, pointed] = await Promise.all([a.remove(target, id), b.post(source, { To: pointer(target, id) })]);
      sorted([removed, pointed]);
      if (removed.status !== 200) assertRefused(removed, { code: 119 });
      // A Pointer to a missing record may be written: then the delete came first.
      assert.equal(pointed.status, 201, pointed.text);
    }
  });
});
