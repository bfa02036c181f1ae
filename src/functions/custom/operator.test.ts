import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { serviceError } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/index.ts';
import { heardLog } from './loading/testing/heard-log.ts';
import { operatedSystem } from './testing/operated-system.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-operator-'));
const { log, heard, text } = heardLog();
const engine = new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf });
const { store, run } = await operatedSystem(engine, directory, log);

after(async () => {
  await store.close();
  await engine.close();
  rmSync(directory, { recursive: true });
});

const failed = (message: string | RegExp) => ({ key: 'functionFailed', status: 400, code: undefined, message });

test('a result is what JSON makes of it', async () => {
  for (const [returned, shown] of [
    ['', null],
    ['return 5', 5],
    ['return { a: undefined, b: new Date(0), c: [() => {}] }', { b: '1970-01-01T00:00:00.000Z', c: [null] }],
    ['return Symbol()', null],
    ['return { then: (done) => done("thenable") }', 'thenable'],
    ['return more', { request: null, record: null, trigger: null, user: null }],
    ['return input.__proto__ === Object.prototype', true],
  ] as const)
    assert.deepEqual(await run(returned), shown, returned);
});

test('a result that JSON cannot say is a failure that says so', async () => {
  await assert.rejects(run('return 5n'), failed(/^The function returned what JSON cannot say: .*BigInt/));
  await assert.rejects(
    run('const a = {}; a.a = a; return a'),
    failed(/^The function returned what JSON cannot say: .*circular[^\n]*$/),
  );
});

test('what is thrown is shown by its message; what may name paths or statements is not', async () => {
  const untold = 'The function failed.';
  for (const [thrown, message] of [
    ['throw new Error("Sold out")', 'Sold out'],
    ['throw Object.assign(new Error("Sold out"), { code: "SOLD_OUT" })', 'Sold out'],
    ['throw "text"', 'text'],
    ['throw Object.assign(new Error("Sold out"), { code: "ERR_COUPON" })', 'Sold out'],
    ['(await import("node:assert")).ok(0, "Choose a date")', 'Choose a date'],
    ['throw { message: "plain" }', 'plain'],
    ['throw new Error("")', untold],
    ['throw null', untold],
    ['throw 5', untold],
    ['throw { get message() { throw 1; } }', untold],
    ['await (await import("node:fs/promises")).readFile("/nowhere/secret")', untold],
    ['await import("./nowhere.mjs")', untold],
    ['undefined.secret', "Cannot read properties of undefined (reading 'secret')"],
    ['await system.update("Accounts", "nowhere", { Name: "a" })', 'Object not found.'],
    [
      'await system.create("Accounts", { IsAccount: "text" })',
      'schema mismatch for Accounts.IsAccount; expected Boolean but got String',
    ],
  ] as const)
    await assert.rejects(run(thrown), failed(message), thrown);
});

test('failures are logged with system and function, never with the input', async () => {
  const before = heard('warn').length;
  await assert.rejects(run('throw new Error("Sold out")', { secret: 'marked input' }));
  const told = heard('warn').slice(before);
  assert.equal(told.length, 1);
  assert.deepEqual([told[0]?.system, told[0]?.err?.message], ['app', 'Sold out']);
  assert.match(told[0]?.function ?? '', /^function\d+$/);
  assert.doesNotMatch(text(), /marked input/);
});

test('records are made, read, changed and deleted', async () => {
  const made = await run(`
    const { objectId } = await system.create('Tags', { Name: 'one', unknown: undefined });
    await system.update('Tags', objectId, { Name: 'two', When: new Date(0), Count: { __op: 'Increment', amount: 2 } });
    const [read, ...rest] = await system.find('Tags', { where: { Name: 'two', When: { $lte: new Date(0) } }, keys: ['Name', 'When', 'Count'] });
    const counted = [await system.count('Tags', { Name: 'two' }), await system.count('Tags', { Name: 'three' })];
    const got = await system.get('Tags', objectId, { keys: 'Name' });
    await system.delete('Tags', objectId);
    return { read, rest, counted, got: got.Name, gone: await system.get('Tags', objectId), first: await system.first('Tags', { where: { Name: 'two' } }) };
  `);
  const { read, ...others } = made as { read: JsonObject };
  assert.deepEqual(others, { rest: [], counted: [1, 0], got: 'two', gone: null, first: null });
  assert.deepEqual([read.Name, read.When, read.Count], ['two', { __type: 'Date', iso: '1970-01-01T00:00:00.000Z' }, 2]);
});

test('order, limit, skip, include and aggregations are those of the data endpoints', async () => {
  const result = await run(`
    const saleId = system.newId();
    await system.createAll([
      { table: 'Sales', fields: { objectId: saleId, Name: 'linked' } },
      ...[1, 2, 3, 4].map((Total) => ({ table: 'SaleRows', fields: { SaleId: { __type: 'Pointer', className: 'Sales', objectId: saleId }, Total } })),
    ]);
    const where = { SaleId: { __type: 'Pointer', className: 'Sales', objectId: saleId } };
    const rows = await system.find('SaleRows', { where, order: ['-Total', 'objectId'], skip: 1, limit: 2, include: ['SaleId'] });
    const [sum] = await system.aggregate('SaleRows', [{ $match: where }, { $group: { _id: null, total: { $sum: '$Total' } } }]);
    return [rows.map(({ Total, SaleId }) => [Total, SaleId.Name]), sum.total];
  `);
  assert.deepEqual(result, [
    [
      [3, 'linked'],
      [2, 'linked'],
    ],
    10,
  ]);
});

test('several records are made in one commit, or none', async () => {
  await assert.rejects(
    run(
      `await system.createAll([{ table: 'Tags', fields: { Name: 'never' } }, { table: 'Accounts', fields: { IsAccount: 1 } }])`,
    ),
    failed(/schema mismatch/),
  );
  assert.equal(await run(`return system.count('Tags', { Name: 'never' })`), 0);
});

test('flags, schemas, and what the system is', async () => {
  assert.deepEqual(
    await run(`
      (await system.config('AcceptWebLeads')).AcceptWebLeads = 'only in this copy';
      const { fields } = await system.schema('Tags');
      return [system.appId, system.name, await system.config('AcceptWebLeads'), await system.config('none'), fields.Name.type, await system.schema('None')];
    `),
    ['app', 'The system', { AcceptWebLeads: true }, null, 'String', null],
  );
});

test('the rules of system tables hold', async () => {
  const user = `{ username: 'dana', password: 'Right1Pass' }`;
  assert.equal(
    await run(
      `const { objectId } = await system.create('_User', ${user}); return (await system.get('_User', objectId)).password`,
    ),
    null,
  );
  await assert.rejects(run(`await system.create('_User', ${user})`), failed('Account already exists for this username.'));
  await assert.rejects(run(`await system.create('_Session', {})`), failed('Action is denied for system tables'));
  await assert.rejects(run(`await system.find('_StoredFile')`), failed(/^Permission denied/));
});

test('arguments that are not what they should be are errors with the service’s codes', async () => {
  for (const [call, code] of [
    ['system.create("Tags", { Name: "a\\u0000" })', 107],
    ['system.create("Tags", { Name: "\\ud800" })', 107],
    ['system.create("Tags", { Count: NaN })', 107],
    ['system.create("Tags", { Count: 5n })', 107],
    ['system.create("Tags", 5)', 107],
    ['system.create("Tags")', 107],
    ['system.create(5, {})', 103],
    ['system.create("no name", {})', 103],
    ['system.update("Tags", undefined, {})', 104],
    ['system.delete("Tags", "")', 104],
    ['system.find("Tags", { limit: -1 })', 102],
    ['system.find("Tags", { sort: "Name" })', 102],
    ['system.find("Tags", { where: { Name: { $unknown: 1 } } })', 102],
    ['system.aggregate("Tags", [{ $lookup: {} }])', 102],
    ['system.update("Tags", "nowhere", {})', 101],
  ] as const)
    assert.equal(await run(`return ${call}.then(() => "done", ({ code }) => code)`), code, call);
});

test('a fault of the service is logged, and tells the function nothing', async () => {
  const find = store.reader.find.bind(store.reader);
  store.reader.find = () => Promise.reject(new Error('SELECT secret FROM "Tags"'));
  try {
    await assert.rejects(run(`await system.find('Tags')`), failed('The function failed.'));
    assert.equal(
      await run(`return system.find('Tags').catch(({ message, stack, cause }) => message + /SELECT/.test(stack) + cause)`),
      'server errorfalseundefined',
    );
  } finally {
    store.reader.find = find;
  }
  assert.equal(heard('error').filter(({ err }) => err?.message.startsWith('SELECT secret')).length, 2);
});

test('a store that is away is no failure of the function, unless it sees to it itself; what was written before leaves a doubt', async () => {
  const { reader } = store;
  const find = reader.find.bind(reader);
  reader.find = () => Promise.reject(serviceError('unavailable'));
  try {
    await assert.rejects(run(`await system.find('Tags')`), { key: 'unavailable' });
    await assert.rejects(run(`throw await system.find('Tags').catch((error) => error)`), { key: 'unavailable' });
    await assert.rejects(run(`await system.create('Tags', { Name: 'x' }); await system.find('Tags')`), { key: 'outcomeUnknown' });
    await assert.rejects(
      run(`await system.find('Tags').catch(() => { throw new Error('no tags today'); })`),
      failed('no tags today'),
    );
    assert.equal(await run(`return system.find('Tags').catch(() => 'none')`), 'none');
    reader.find = () => Promise.reject(serviceError('timeout'));
    await assert.rejects(run(`await system.find('Tags')`), { key: 'functionFailed' });
  } finally {
    reader.find = find;
  }
});
