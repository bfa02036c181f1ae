/** An export over HTTP contains what its caller can see of the table; refusals come before the first byte. Reference: export.md#export-over-http. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type Caller, forAll, makeTable, newCaller, setRules } from '../../support/permissions.ts';
import { assertError, create, createEach, defineTable, onEachEngine, pointer, tableName } from '../../support/query.ts';
import { cellsOf, exported } from './exporting.ts';

const signedIn = { requiresAuthentication: true } as const;

onEachEngine((get) => {
  let caller: Caller;
  before(async () => {
    caller = await newCaller(get());
  });

  const keysOf = async (table: string, query: Record<string, unknown> = {}, options = caller.options) =>
    cellsOf((await exported(get(), table, { keys: 'k', ...query }, options)).text)
      .slice(1)
      .map(([k]) => k);

  const refusal = async (table: string, query: Record<string, unknown>, options = caller.options) =>
    get().call('GET', `/platform/export/${table}`, { ...options, query });

  test('Export: keys see every record; a session user those that the ACLs and the table permit', async () => {
    const table = tableName('Seen');
    await makeTable(get(), table, { k: 'String' }, forAll(signedIn));
    await createEach(get(), table, [
      { k: 'open', ACL: { '*': { read: true } } },
      { k: 'shut', ACL: { somebody00: { read: true } } },
      { k: 'own', ACL: { [caller.id]: { read: true } } },
    ]);
    for (const format of ['csv', 'ndjson', 'json'])
      for (const order of ['', 'k']) {
        const shown = async (options = caller.options) => {
          const { text } = await exported(get(), table, { format, ...(order && { order }) }, options);
          return ['open', 'own', 'shut'].filter((k) => text.includes(k));
        };
        const found = await get().call('GET', `/platform/classes/${table}`, caller.options);
        assert.deepEqual(await shown(), found.body.results.map((row: { k: string }) => row.k).sort());
        assert.deepEqual(await shown({ as: 'apiKey' }), ['open', 'own', 'shut']);
        assert.deepEqual(await shown({ as: 'master' }), ['open', 'own', 'shut']);
      }
    assert.deepEqual(await keysOf(table), ['open', 'own']);
    await setRules(get(), table, { find: { pointerFields: ['createdBy'] } });
    assert.deepEqual(await keysOf(table), []);
  });

  test('Export: fields that are hidden from the caller have no column, and no cell in the records that hide them', async () => {
    const table = tableName('Masked');
    const rules = { ...forAll(signedIn), protectedFields: { '*': ['secret'] } };
    await makeTable(get(), table, { k: 'String', secret: 'String', owner: 'Pointer:_User' }, rules);
    await create(get(), table, { k: 'a', secret: 'hidden', ACL: { '*': { read: true } } });
    const { text } = await exported(get(), table, {}, caller.options);
    assert.doesNotMatch(text, /secret|hidden/);
    assert.match((await exported(get(), table)).text, /secret,owner\r\n.*,hidden,\r\n$/);
    assertError(await refusal(table, { keys: 'k,secret' }), 400, 119);
    assertError(await refusal(table, { order: 'secret' }), 400, 119);
    assertError(await refusal(table, { where: { secret: 'hidden' } }), 400, 119);
    await setRules(get(), table, { ...rules, protectedFields: { '*': ['secret'], 'userField:owner': [] } });
    await create(get(), table, { k: 'b', secret: 'mine', owner: pointer('_User', caller.id), ACL: { '*': { read: true } } });
    assert.deepEqual(cellsOf((await exported(get(), table, { keys: 'k,secret' }, caller.options)).text), [
      ['k', 'secret'],
      ['a', ''],
      ['b', 'mine'],
    ]);
  });

  test('Export: records behind Pointers are included only for callers who can read them', async () => {
    const [table, target] = [tableName('Seen'), tableName('Behind')];
    await makeTable(get(), target, { Name: 'String' });
    await makeTable(get(), table, { k: 'String', p: `Pointer:${target}` }, forAll(signedIn));
    const id = await create(get(), target, { Name: 'secret', ACL: { '*': { read: true } } });
    await create(get(), table, { k: 'a', p: pointer(target, id), ACL: { '*': { read: true } } });
    const rows = async (options = caller.options) =>
      cellsOf((await exported(get(), table, { keys: 'k,p', include: 'p.Name' }, options)).text);
    assert.deepEqual(await rows(), [
      ['k', 'p', 'p.Name'],
      ['a', id, ''],
    ]);
    assert.deepEqual((await rows({ as: 'apiKey' }))[1], ['a', id, 'secret']);
  });

  test('Export: passwords and session tokens are never in it', async () => {
    const secrets = /password|sessionToken|r:[0-9a-f]{32}|argon2|bcrypt/i;
    for (const format of ['csv', 'ndjson', 'json']) {
      const { text } = await exported(get(), '_User', { format });
      assert.ok(text.includes(caller.id));
      assert.doesNotMatch(text, secrets);
    }
  });

  test('Export: a caller who may not read the table is refused, as by a query', async () => {
    const table = tableName('Shut');
    await makeTable(get(), table, { k: 'String' }, { get: signedIn });
    const wrong = { as: 'anonymous', headers: { 'X-Platform-API-Key': 'wrong' } } as const;
    for (const options of [
      caller.options,
      { as: 'anonymous' } as const,
      wrong,
      { session: 'r:00000000000000000000000000000000' },
    ])
      for (const name of [table, '_Session', '_Trigger', '_PasswordReset', '_RequestLog']) {
        const asFound = await get().call('GET', `/platform/classes/${name}`, options);
        if (asFound.status === 200) continue;
        const refused = await get().call('GET', `/platform/export/${name}`, options);
        assert.deepEqual([refused.status, refused.body], [asFound.status, asFound.body], name);
      }
    assertError(await refusal(table, {}), 400, 119, `Permission denied for action find on class ${table}`);
  });

  test('Export: what a query refuses, and what cannot be a column, is refused before the first byte', async () => {
    const table = tableName('Export');
    await defineTable(get(), table, { k: 'String', p: 'Pointer:Accounts', r: 'Relation:_User' });
    await create(get(), table, { k: 'a' });
    const master = { as: 'master' } as const;
    for (const query of [
      { where: 'not json' },
      { where: { k: { $foo: 1 } } },
      { where: '[1]' },
      { keys: '1x' },
      { order: '1x' },
      { include: '1x' },
      { where: { k: { $regex: '(' } } },
    ] as Record<string, unknown>[]) {
      const asFound = await get().call('GET', `/platform/classes/${table}`, { query });
      assert.notEqual(asFound.status, 200, JSON.stringify(query));
      for (const format of ['csv', 'json']) {
        const refused = await refusal(table, { ...query, format }, master);
        assert.deepEqual([refused.status, refused.body], [asFound.status, asFound.body], JSON.stringify(query));
        assert.match(refused.headers.get('content-type') ?? '', /^application[/]json/);
        assert.equal(refused.headers.get('content-disposition'), null);
      }
    }
    const cases: [Record<string, unknown>, string][] = [
      [{ format: 'xml' }, 'Invalid value for parameter format: should be csv, ndjson or json'],
      [{ format: 'json', bom: 1 }, 'Invalid value for parameter bom: is for csv alone'],
      [{ format: 'ndjson', raw: 'true' }, 'Invalid value for parameter raw: is for csv alone'],
      [{ bom: 'x' }, 'Invalid value for parameter bom: should be 1 or 0'],
      [{ limit: 5 }, 'Invalid parameter for query: limit'],
      [{ skip: 5 }, 'Invalid parameter for query: skip'],
      [{ keys: 'k,Nmae' }, `Invalid value for parameter keys: ${table} has no field Nmae`],
      [{ include: 'p.Nmae' }, 'Invalid value for parameter include: Accounts has no field Nmae'],
      [{ keys: 'r' }, 'Invalid value for parameter keys: r is a Relation, which csv has no form of'],
      [{ include: 'k.x' }, 'Invalid value for parameter include: k is neither a Pointer nor an Object'],
    ];
    for (const [query, text] of cases) assertError(await refusal(table, query, master), 400, 102, text);
    assertError(await refusal(`${table}s`, {}, master), 400, 103, `Class ${table}s does not exist.`);
    assert.equal((await get().call('DELETE', `/platform/export/${table}`)).status, 404);
  });

  test('Export: parameters may come in the body of a POST; a batch takes no export', async () => {
    const table = tableName('Export');
    await defineTable(get(), table, { k: 'String' });
    await createEach(get(), table, [{ k: 'a' }, { k: 'b' }]);
    const body = { _method: 'GET', where: { k: 'b' }, keys: ['k'], format: 'csv' };
    const posted = await get().call('POST', `/platform/export/${table}`, { body });
    assert.deepEqual([posted.status, posted.text], [200, 'k\r\nb\r\n']);
    const requests = [{ method: 'GET', path: `/platform/export/${table}` }];
    const batch = await get().call('POST', '/platform/batch', { body: { requests } });
    assert.doesNotMatch(batch.text, /"success"/);
  });
});
