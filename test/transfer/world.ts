/** Content that a move or a restore has to preserve: two systems with every kind of value and schema, and how clients read all of it. */
import assert from 'node:assert/strict';
import { fileObject, type Uploaded, uploadFile } from '../support/files.ts';
import { createMany, date, defineTable, pointer, type Row } from '../support/query.ts';
import type { Service } from '../support/service.ts';
import { addSystem, callSystem, type System, succeed } from '../systems/cli.ts';

const password = 'Correct horse 1';
const longText = `${'ארוך long '.repeat(30_000)}😀`;

/** Records of every wire type, as JSON text, because clients may format numbers and escapes in different ways. */
const hostile = (file: Uploaded): readonly string[] => [
  '{"n":9007199254740993,"Name":"A","name":"a","naMe":1}',
  '{"n":5e-324,"o":{"z":1,"a":2,"10":3,"9":4,"":{"é":"\\u00e9"}}}',
  '{"n":-0,"o":{"n":-0,"big":1e308,"small":5e-324,"odd":1.0,"e":1E2}}',
  '{"n":1e308,"list":[1,"1",null,[],{},-0,[1.50,{"b":1,"a":2}]]}',
  '{"n":-1.7976931348623157e308,"s":"😀 \\u0001\\t\\n\\"\\\\ \\u2028 א\\u05b7 e\\u0301 {NULL,\\"x\\"}","b":true}',
  '{"s":"NULL","b":false,"list":["NULL","\\\\","\\"",""],"o":{"\\"":"{"}}',
  '{"s":"","list":[],"o":{},"d":{"__type":"Date","iso":"0001-01-01T00:00:00.000Z"}}',
  '{"d":{"__type":"Date","iso":"9999-12-31T23:59:59.999Z"},"p":{"__type":"Pointer","className":"Target","objectId":"t 😀"}}',
  `{"f":${JSON.stringify(fileObject(file))},"ACL":{"*":{"read":true},"role:Sales":{"write":true,"read":true}}}`,
  '{"list":[{"__type":"Date","iso":"2024-01-01T00:00:00.000Z"},{"__type":"Pointer","className":"Target","objectId":"t1"}]}',
  '{"n":null,"s":null,"empty":{"__op":"Delete"}}',
  `{"s":${JSON.stringify(longText)},"o":{"long":${JSON.stringify(longText)}}}`,
];

export interface World {
  other: System;
  secondKey: string;
  token: string;
  file: Uploaded;
}

/** Fills a service with both systems. @param many number of records in the table `Many` */
export async function fill(service: Service, many: number): Promise<World> {
  const other = await addSystem(service, '--name', 'Second', '--app-id', 'Second-app');
  const secondKey =
    /\S+$/.exec((await succeed(service, 'key', 'add', '--system', service.appId, '--name', 'second')).trim())?.[0] ?? '';
  const file = await hostileTable(service);
  await changedTable(service);
  await guardedTable(service);
  await defineTable(service, 'Many', { n: 'Number', s: 'String', tags: 'Array' });
  await createMany(
    service,
    'Many',
    Array.from({ length: many }, (_, n) => ({ n, s: `row ${n} ${'x'.repeat(n % 90)}`, tags: [n % 7] })),
  );
  const token = await users(service);
  const made = await callSystem(service, other, 'POST', '/platform/classes/Hostile', { body: { n: 'a text here' } });
  assert.equal(made.status, 201);
  return { other, secondKey, token, file };
}

/** Creates tables with hostile values and Relations. @returns the file that one of the records holds */
async function hostileTable(service: Service): Promise<Uploaded> {
  const fields = {
    n: 'Number',
    s: 'String',
    b: 'Boolean',
    o: 'Object',
    list: 'Array',
    d: 'Date',
    f: 'File',
    p: 'Pointer:Target',
  };
  const indexes = { byNumber: { n: -1, b: 1 }, byDate: { d: 1 } };
  await defineTable(service, 'Target', { s: 'String', friends: 'Relation:Target' });
  await defineTable(service, 'Hostile', { ...fields, related: 'Relation:Target', Related: 'Relation:Target' }, { indexes });
  const file = await uploadFile(service, 'a b.txt');
  for (const body of hostile(file)) await send(service, 'POST', '/platform/classes/Hostile', body);
  for (const objectId of ['t1', 't2', 't 😀', '\'"\\', 'A', 'a', 'é'])
    await send(service, 'POST', '/platform/classes/Target', { objectId });
  const { body } = await service.call('GET', '/platform/classes/Hostile', { query: { limit: 2 } });
  const members = ['t1', 't 😀', '\'"\\', 'é', 'a', 'A'].map((id) => pointer('Target', id));
  const [first, second] = body.results.map((row: Row) => row.objectId);
  const link = (objects: unknown[]) => ({ __op: 'AddRelation', objects });
  await send(service, 'PUT', `/platform/classes/Hostile/${first}`, { related: link(members), Related: link(members.slice(2)) });
  await send(service, 'PUT', `/platform/classes/Hostile/${second}`, { related: link(members.slice(0, 1)) });
  return file;
}

/** Creates tables with fields that were dropped and added again, names that differ only by case, a text index, and deleted last records. */
async function changedTable(service: Service): Promise<void> {
  for (const name of ['changed', 'Changed']) {
    await defineTable(service, name, { a: 'String', A: 'Number', gone: 'String', text: 'String', Text: 'String' });
    await send(service, 'PUT', `/platform/schemas/${name}`, { className: name, fields: { gone: { __op: 'Delete' } } });
    await send(service, 'PUT', `/platform/schemas/${name}`, {
      className: name,
      fields: { gone: { type: 'Date' }, rank: { type: 'Number' } },
    });
    await send(service, 'PUT', `/platform/schemas/${name}`, { className: name, textIndex: ['text', 'Text'] });
  }
  const texts = ['ישראל שלום', 'Crème brûlée', 'x'.repeat(5000), `${'many words '.repeat(3)}😀`];
  const rows = texts.map((text, A) => ({ a: `a${A}`, A, text, Text: 'other', gone: date('2024-05-06T07:08:09.010Z'), rank: A }));
  const ids = await createMany(service, 'changed', [...rows, ...rows]);
  for (const id of [ids[1], ids.at(-1)]) await send(service, 'DELETE', `/platform/classes/changed/${id}`);
  await createMany(service, 'Changed', [{ A: 1 }, { A: 2 }]);
  await send(service, 'PUT', `/platform/classes/changed/${ids[0]}`, { A: { __op: 'Increment', amount: 0.1 } });
}

/** Creates a table that requires something of its records. */
async function guardedTable(service: Service): Promise<void> {
  await send(service, 'POST', '/platform/schemas/Guarded', {
    fields: {
      name: { type: 'String', required: true },
      state: { type: 'Object', defaultValue: { a: [null, 'x'], 1: date('2020-01-01T00:00:00.000Z') } },
      phone: { type: 'String' },
      n: { type: 'Number' },
    },
    uniqueIndexes: {
      name: { fields: ['name'], as: 'nocase' },
      phone: { fields: ['phone'], as: 'phone' },
      both: { fields: ['n', 'name'] },
    },
  });
  const names = ['a', 'Straße', 'ΟΔΟΣ', 'שלום', 'x'.repeat(300)];
  await createMany(
    service,
    'Guarded',
    names.map((name, n) => ({ name, n, ...(n % 2 && { phone: `+972 3 ${n}` }) })),
  );
}

/** Creates a user with a role. @returns the session token of the user */
async function users(service: Service): Promise<string> {
  const signed = await service.call('POST', '/platform/users', {
    as: 'apiKey',
    body: { username: 'Dana ', password, email: 'Dana@example.com', phone: '1' },
  });
  assert.equal(signed.status, 201, signed.text);
  const user = pointer('_User', signed.body.objectId);
  await send(service, 'POST', '/platform/roles', { name: 'Sales 2', ACL: {}, users: { __op: 'AddRelation', objects: [user] } });
  return signed.body.sessionToken;
}

async function send(service: Service, method: string, path: string, body?: unknown): Promise<void> {
  const answer = await service.call(method, path, { body });
  assert.ok(answer.status < 300, `${method} ${path} ${answer.text.slice(0, 300)}`);
}

/** Reads everything of both systems with their master keys, or of one if both are the same. @returns the response texts by system, path and query */
export async function readAll(service: Service, { other }: World): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  // A caller that looks at one system passes it as both.
  for (const system of other.appId === service.appId ? [service] : [service, other]) {
    const read = async (path: string, query: Row = {}) => {
      const { status, text } = await callSystem(service, system, 'GET', path, { query });
      assert.equal(status, 200, `${path} ${text.slice(0, 300)}`);
      // File URLs contain the address that the service listens on.
      answers.set(`${system.appId} ${path} ${JSON.stringify(query)}`, text.replaceAll(service.url, ''));
      return JSON.parse(text).results as Row[];
    };
    // Both grow by what the tests themselves do.
    for (const { className } of await read('/platform/schemas'))
      if (className !== '_RequestLog' && className !== '_AdminLog')
        await read(`/platform/classes/${className}`, { limit: 100_000, count: 1 });
    if (system.appId !== service.appId) continue;
    for (const order of ['n', '-s', 'o.z', 'd,-b']) await read('/platform/classes/Hostile', { order, keys: 'objectId' });
    for (const words of ['שלום', 'creme', '"words many"'])
      await read('/platform/classes/changed', { where: { $text: { $search: { $term: words } } } });
    for (const body of [{ name: 'STRASSE' }, { name: 'οδοσ' }, { name: 'b', phone: '031' }, {}]) {
      const refused = await callSystem(service, system, 'POST', '/platform/classes/Guarded', { body });
      assert.equal(refused.status, 400, refused.text);
      answers.set(`refused ${JSON.stringify(body)}`, refused.text);
    }
    await read('/platform/classes/Target', { where: { friends: { $exists: false } }, include: '*' });
    await read('/platform/classes/Many', { where: { tags: 3 }, limit: 10, order: '-n' });
  }
  return answers;
}

/** Asserts that two results of `readAll` are equal, to the byte. */
export function assertAlike(read: ReadonlyMap<string, string>, before: ReadonlyMap<string, string>): void {
  assert.deepEqual([...read.keys()], [...before.keys()]);
  for (const [request, text] of before)
    assert.ok(read.get(request) === text, `${request}:\n${firstDifference(String(read.get(request)), text)}`);
}

function firstDifference(a: string, b: string): string {
  let at = 0;
  while (a[at] === b[at] && at < a.length) at++;
  return [a, b].map((text) => text.slice(Math.max(0, at - 100), at + 100)).join('\n');
}

/** Asserts that uploads are still known: a file can be attached to another record. */
export async function assertFiles(service: Service, { file }: World): Promise<void> {
  const made = await service.call('POST', '/platform/classes/Again', { body: { f: fileObject(file) } });
  assert.equal(made.status, 201, made.text);
  await send(service, 'DELETE', `/platform/classes/Again/${made.body.objectId}`);
}

/** Asserts that the second API key, the session and the password are still valid. */
export async function assertCredentials(service: Service, { secondKey, token }: World): Promise<void> {
  const read = await service.call('GET', '/platform/classes/Target', {
    as: 'anonymous',
    headers: { 'X-Platform-API-Key': secondKey },
  });
  assert.equal(read.status, 200, read.text);
  assert.equal((await service.call('GET', '/platform/users/me', { session: token })).status, 200);
  const login = await service.call('POST', '/platform/login', { as: 'apiKey', body: { username: 'dana', password } });
  assert.equal(login.status, 200, login.text);
}
