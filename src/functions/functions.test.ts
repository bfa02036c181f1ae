import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { anonymous } from '../access/index.ts';
import { serviceError } from '../errors/fail.ts';
import type { JsonObject } from '../kernel/json.ts';
import { createLog } from '../observe/index.ts';
import type { WriteEvent } from '../records/context/write-hooks.ts';
import { masterContext } from '../records/testing/context.ts';
import type { Store } from '../storage/port.ts';
import { addressesOf } from '../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../storage/sqlite/index.ts';
import { openAnyway } from '../storage/testing/open.ts';
import { provision } from '../systems/provision.ts';
import { type FunctionCall, Functions } from './index.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-functions-'));
const engine = new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf });
const SPOIL = `export default ({ system, signal, ...given }) => { given.record.tags.push('b'); return given; }`;
const WRITE = `export default async ({ system }) => {
  const { objectId } = await system.create('Tags', { Name: 'a' });
  await system.update('Tags', objectId, { Name: 'b' });
  await system.delete('Tags', objectId);
  await system.createAll([{ table: 'Tags', fields: { Name: 'c' } }]);
};`;
const writes: WriteEvent[] = [];
let store: Store;
let functions: Functions;

before(async () => {
  writeFileSync(join(directory, 'echo.mjs'), 'export default ({ input, record, user }) => ({ input, record, user });');
  writeFileSync(join(directory, 'getlead.mjs'), 'export default () => "mine";');
  writeFileSync(join(directory, 'spoil.mjs'), SPOIL);
  writeFileSync(join(directory, 'write.mjs'), WRITE);
  store = await openAnyway(engine, 'app');
  await provision(store);
  const watching = { mutations: () => [], committed: (event: WriteEvent) => writes.push(event) };
  const hooks = { ...masterContext(store).hooks, observers: [watching] };
  functions = new Functions({
    directory,
    timeLimit: 20_000,
    hooks,
    log: createLog('silent'),
    memoryMb: 512,
    env: {},
  });
  await functions.load();
});
after(async () => {
  await store.close();
  await engine.close();
  rmSync(directory, { recursive: true });
});

const system = () => ({ appId: 'app', name: 'App', store });
const callOf = (input: JsonObject, user: FunctionCall['user'] = assert.fail): FunctionCall => ({
  input,
  isForm: false,
  request: { method: 'POST', headers: {}, ip: '127.0.0.1', holdsKey: false },
  user,
  caller: async () => anonymous,
});

test('forms are the service’s own, whatever files there are; nobody is asked who calls', async () => {
  const answer = await functions.call(system(), 'getlead', () => callOf({ PhoneNumber: '1' }));
  assert.match(answer, /^\{"result":\{"success":true,"leadId":"\w{10}"\}\}$/);
  const [write] = writes;
  assert.equal(write?.referer, 'server-side-code:getlead');
  assert.equal(write?.principal.kind, 'master');
});

test('what an operator’s function returns is the result', async () => {
  const user = { objectId: 'abcdefghij' };
  const answer = await functions.call(system(), 'echo', () => callOf({ a: 1 }, async () => user));
  assert.deepEqual(JSON.parse(answer), { result: { input: { a: 1 }, record: null, user } });
});

test('a name that nobody has is refused before the call is read', async () => {
  for (const name of ['web2lead', 'constructor', '__proto__', '../echo', ''])
    await assert.rejects(functions.call(system(), name, assert.fail), { message: 'User function not found', code: undefined });
});

const trigger = {
  id: 'trigger001',
  name: 'One',
  actionId: 'action0001',
  event: 'update',
  runId: 'run0000001',
  attempt: 2,
} as const;
const cause = { triggerId: 'trigger001', level: 2, source: 'trigger000', chain: 'c' };

test('triggers call functions of the operator, with a copy of their record', async () => {
  const record = { objectId: 'abcdefghij', tags: ['a'] };
  assert.deepEqual(await functions.callForRecord(system(), 'spoil', record, trigger, cause), {
    input: {},
    request: null,
    record: { objectId: 'abcdefghij', tags: ['a', 'b'] },
    trigger,
    user: null,
  });
  assert.deepEqual(record.tags, ['a']);
  for (const name of ['getlead', 'nothing'])
    await assert.rejects(functions.callForRecord(system(), name, record, trigger, cause), { message: 'User function not found' });
});

test('what a function writes has the cause of the trigger that calls it, and none where a request does', async () => {
  const record = { objectId: 'abcdefghij' };
  for (const [call, expected] of [
    [() => functions.callForRecord(system(), 'write', record, trigger, cause), cause],
    [() => functions.call(system(), 'write', () => callOf({}, async () => null)), null],
  ] as const) {
    const from = writes.length;
    await call();
    const made = writes.slice(from);
    assert.deepEqual(
      made.map(({ event }) => event),
      ['create', 'update', 'delete', 'create'],
    );
    for (const write of made) assert.deepEqual([write.cause, write.referer], [expected, 'server-side-code:write']);
  }
});

test('calls of a system run so many at a time, networks in turn; too many are refused; other systems and triggers do not wait', async (t) => {
  // Functions share nothing with this test, so each call asks over HTTP who may go on.
  const calls: { from: string; end(): void }[] = [];
  const gate = createServer((request, response) => {
    calls.push({ from: request.headers['x-from'] as string, end: () => response.end() });
  });
  t.after(() => gate.close());
  await once(gate.listen(0, '127.0.0.1'), 'listening');
  const gateAt = `http://127.0.0.1:${(gate.address() as AddressInfo).port}`;
  writeFileSync(
    join(directory, 'held.mjs'),
    `import { get } from 'node:http';
     export default ({ request }) => new Promise((end, fail) => {
       const headers = { 'x-from': request?.ip ?? 'trigger' };
       get('${gateAt}', { headers, agent: false }, (response) => response.resume().on('end', end)).on('error', fail);
     });`,
  );
  const other = await openAnyway(engine, 'other');
  await provision(other);
  const call = (ip: string, of = store) =>
    functions
      .call({ appId: 'app', name: 'App', store: of }, 'held', () => {
        const one = callOf({}, async () => null);
        return { ...one, request: { ...one.request, ip } };
      })
      .catch(({ key }: { key: string }) => key);
  const begun = async (count: number) => {
    while (calls.length < count) await new Promise(setImmediate);
  };
  const all = Array.from({ length: 1_064 }, () => call('10.0.0.1'));
  await begun(64);
  await wait(50);
  assert.equal(calls.length, 64);
  const second = call('10.0.0.2');
  const refused = all.at(-1);
  assert.equal(await refused, 'unavailable');
  const elsewhere = call('10.0.0.3', other);
  const given = {
    id: 'trigger001',
    name: null,
    actionId: 'action0001',
    event: 'create',
    runId: 'run0000001',
    attempt: 1,
  } as const;
  const cause = { triggerId: given.id, level: 1, source: given.id, chain: 'chain00001' };
  const called = functions.callForRecord(system(), 'held', { objectId: 'record0001' }, given, cause);
  await begun(66);
  assert.deepEqual(
    calls
      .slice(64)
      .map(({ from }) => from)
      .sort(),
    ['10.0.0.3', 'trigger'],
  );
  // Where three have ended, three begin: one of each network in turn.
  for (const { end } of calls.splice(0, 3)) end();
  await begun(66);
  await wait(50);
  const next = calls.slice(63).map(({ from }) => from);
  assert.deepEqual([next.length, next.filter((from) => from === '10.0.0.2').length], [3, 1]);
  const isOver = Promise.all([...all, second, elsewhere, called]);
  let left = true;
  void isOver.then(() => (left = false));
  while (left) {
    for (const { end } of calls.splice(0)) end();
    await new Promise(setImmediate);
  }
  assert.deepEqual([...new Set(await isOver)].map(String).sort(), ['null', 'unavailable', '{"result":null}']);
  await other.close();
});

test('a form is never told that it took too long', async (t) => {
  t.mock.method(store.reader, 'find', () => Promise.reject(serviceError('timeout')));
  await assert.rejects(
    functions.call(system(), 'getlead', () => callOf({ PhoneNumber: '050-1234567' })),
    { key: 'unavailable' },
  );
});
