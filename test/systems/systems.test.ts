/** One process serves many systems, each with its own tables, records and keys. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertError, create, find, onEachEngine, pointer, type Row, tableName } from '../support/query.ts';
import { afterCommand } from '../support/soon.ts';
import { storedIn } from '../support/stored.ts';
import { addSystem, callSystem, command, type System, succeed } from './cli.ts';

onEachEngine((get) => {
  let other: System;
  /** Added without options. The test of removal removes it. */
  let fresh: System;
  before(async () => {
    other = await addSystem(get(), '--name', 'Second', '--app-id', 'second-app');
    fresh = await addSystem(get());
  });
  const call = (method: string, path: string, body?: Row) =>
    callSystem(get(), other, method, path, body === undefined ? {} : { body });

  test('Systems: an added system is usable at once, under both of its keys', async () => {
    assert.equal(other.appId, 'second-app');
    for (const as of ['master', 'apiKey'] as const)
      await afterCommand(get(), async () =>
        assert.equal((await callSystem(get(), other, 'GET', '/platform/schemas', { as })).status, 200, as),
      );
  });
  test('Systems: an added system gets its own application id and keys when none are given', async () => {
    assert.notEqual(fresh.appId, get().appId);
    assert.ok(fresh.masterKey.length >= 24 && fresh.apiKey.length >= 24 && fresh.masterKey !== fresh.apiKey);
    await afterCommand(get(), async () => assert.equal((await callSystem(get(), fresh, 'GET', '/platform/schemas')).status, 200));
  });
  test('system add: without an administrator a system has no users', async () => {
    await afterCommand(get(), async () => {
      const { body } = await callSystem(get(), fresh, 'GET', '/platform/users');
      assert.deepEqual(body.results, []);
    });
  });
  test('Systems: an application id that is taken is refused, and nothing changes', async () => {
    const { code, stdout, stderr } = await command(get(), 'system', 'add', '--app-id', 'second-app');
    assert.notEqual(code, 0);
    assert.ok(!/^\s+at /m.test(stdout + stderr), stdout + stderr);
    assert.equal((await call('GET', '/platform/schemas')).status, 200);
  });
  test('Systems: list names every system, and no key', async () => {
    const output = await succeed(get(), 'system', 'list');
    for (const text of [get().appId, 'second-app', 'Second']) assert.ok(output.includes(text), output);
    for (const key of [get().masterKey, get().apiKey, other.masterKey, other.apiKey]) assert.ok(!output.includes(key));
  });

  test('Systems: the same table name holds other records', async () => {
    const table = tableName('Shared');
    const path = `/platform/classes/${table}`;
    const mine = await create(get(), table, { s: 'mine' });
    const theirs = (await call('POST', path, { s: 'theirs' })).body.objectId;
    assert.deepEqual(
      (await find(get(), table)).map((row) => row.s),
      ['mine'],
    );
    assert.deepEqual(
      (await call('GET', path)).body.results.map((row: Row) => row.s),
      ['theirs'],
    );
    assertError(await call('GET', `${path}/${mine}`), 404, 101);
    assertError(await get().call('GET', `${path}/${theirs}`), 404, 101);
    assertError(await call('PUT', `${path}/${mine}`, { s: 'changed' }), 404, 101);
    assertError(await call('DELETE', `${path}/${mine}`), 404, 101);
    assert.deepEqual(
      (await find(get(), table)).map((row) => row.s),
      ['mine'],
    );
  });
  test('Systems: same-named fields may have different types', async () => {
    const table = tableName('Typed');
    await create(get(), table, { f: 'text' });
    assert.equal((await call('POST', `/platform/classes/${table}`, { f: 5 })).status, 201);
    const type = (answer: { body: { fields: { f: Row } } }) => answer.body.fields.f.type;
    assert.equal(type(await get().call('GET', `/platform/schemas/${table}`)), 'String');
    assert.equal(type(await call('GET', `/platform/schemas/${table}`)), 'Number');
  });
  test("Systems: one system's tables do not exist in the other", async () => {
    const table = tableName('Mine');
    await create(get(), table, { n: 1 });
    assertError(await call('GET', `/platform/schemas/${table}`), 400, 103);
    assert.deepEqual((await call('GET', `/platform/classes/${table}`)).body, { results: [] });
    const names = (await call('GET', '/platform/schemas')).body.results.map((each: { className: string }) => each.className);
    assert.ok(!names.includes(table));
  });
  test('Systems: the same own objectId may be in both, and include stays inside', async () => {
    const table = tableName('Ids');
    for (const [system, name] of [
      [undefined, 'mine'],
      [other, 'theirs'],
    ] as const) {
      const send = (body: Row) =>
        system ? call('POST', `/platform/classes/${table}`, body) : get().call('POST', `/platform/classes/${table}`, { body });
      assert.equal((await send({ objectId: 'same000001', name })).status, 201);
      assert.equal((await send({ objectId: 'link000001', to: pointer(table, 'same000001') })).status, 201);
    }
    const path = `/platform/classes/${table}/link000001`;
    assert.equal((await get().call('GET', path, { query: { include: 'to' } })).body.to.name, 'mine');
    assert.equal((await callSystem(get(), other, 'GET', path, { query: { include: 'to' } })).body.to.name, 'theirs');
  });
  test('Systems: the delete guard and aggregates stay inside', async () => {
    const table = tableName('Guard');
    await create(get(), table, { objectId: 'target0001' });
    await create(get(), table, { to: pointer(table, 'target0001') });
    await call('POST', `/platform/classes/${table}`, { objectId: 'target0001' });
    assert.equal((await call('DELETE', `/platform/classes/${table}/target0001`)).status, 200);
    assertError(await get().call('DELETE', `/platform/classes/${table}/target0001`), 400, 119);
    const query = { pipeline: [{ $count: 'n' }] };
    assert.deepEqual((await get().call('GET', `/platform/classes-aggregate/${table}`, { query })).body, { results: [{ n: 2 }] });
  });
  test("Systems: a batch writes into the request's system only", async () => {
    const table = tableName('Batch');
    const requests = [{ method: 'POST', path: `/platform/classes/${table}`, body: { n: 1 } }];
    assert.ok((await call('POST', '/platform/batch', { requests })).body[0].success);
    assert.deepEqual(await find(get(), table), []);
  });

  test("Systems: one system's keys are wrong credentials in the other", async () => {
    for (const headers of [{ 'X-Platform-Master-Key': other.masterKey }, { 'X-Platform-API-Key': other.apiKey }] as Record<
      string,
      string
    >[]) {
      assertError(
        await get().call('GET', '/platform/classes/_User', { as: 'anonymous', headers }),
        400,
        119,
        /^Permission denied/,
      );
      assert.equal((await get().call('GET', '/platform/schemas', { as: 'anonymous', headers })).status, 403);
    }
  });
  test('Systems: a removed system answers 403 {error: unauthorized} at once, others go on', async () => {
    await afterCommand(get(), async () =>
      assert.equal((await callSystem(get(), fresh, 'POST', '/platform/classes/T', { body: { n: 1 } })).status, 201),
    );
    await succeed(get(), 'system', 'remove', fresh.appId);
    for (const path of ['/platform/classes/T', '/platform/schemas'])
      await afterCommand(get(), async () => {
        const answer = await callSystem(get(), fresh, 'GET', path);
        assert.deepEqual([answer.status, answer.body], [403, { error: 'unauthorized' }], path);
      });
    assert.ok(!(await succeed(get(), 'system', 'list')).includes(fresh.appId));
    assert.equal((await call('GET', '/platform/schemas')).status, 200);
    assert.equal((await get().call('GET', '/platform/schemas')).status, 200);
  });
  test('Systems: removing a system that is not there fails in one line', async () => {
    const { code, stdout, stderr } = await command(get(), 'system', 'remove', 'nowhere-app');
    assert.notEqual(code, 0);
    assert.ok(!/^\s+at /m.test(stdout + stderr), stdout + stderr);
  });
  for (const id of ['../escape', 'a/b', 'a b', '', "x'; --"])
    test(`Systems: an application id that could name a path or a statement is refused, or harmless: ${JSON.stringify(id)}`, async () => {
      const { code } = await command(get(), 'system', 'add', '--app-id', id);
      assert.notEqual(code, 0);
      assert.equal((await get().call('GET', '/platform/schemas')).status, 200);
    });
  test('Systems: keys are not stored in clear text in DATA_DIR', async () => {
    for (const as of ['master', 'apiKey'] as const)
      await afterCommand(get(), async () =>
        assert.equal((await callSystem(get(), other, 'POST', '/platform/classes/T', { as, body: { n: 1 } })).status, 201),
      );
    for (const { path, bytes } of await storedIn(get()))
      for (const key of [other.masterKey, other.apiKey]) assert.ok(!bytes.includes(key), path);
  });
});
