/** Limits of request bodies of the console: records with long texts are accepted, other bodies must be small. Reference: console.md#console-data. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { Visitor } from '../support/console.ts';
import { storeOf } from '../support/records.ts';
import { anyEngine, type Service } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import { signUp } from '../support/users.ts';

let service: Service;
let visitor: Visitor;
let table: string;

before(async () => {
  service = await sharedService(anyEngine[0] ?? 'sqlite');
  visitor = new Visitor(service);
  await visitor.signIn((await signUp(service)).username);
  table = await storeOf(() => service).table({ Body: 'HTML/XML' });
  const all = { '*': true };
  const classLevelPermissions = { find: all, get: all, create: all, update: all };
  await service.call('PUT', `/platform/schemas/${table}`, { body: { classLevelPermissions } });
});

test('a text as long as forms take one is made, and changed with what stood there', async () => {
  const [long, longer] = ['a'.repeat(900_000), 'b'.repeat(900_000)];
  const made = await visitor.api('POST', `records/${table}`, { body: { requestId: '1', fields: { Body: long } } });
  assert.equal(made.status, 200, made.text.slice(0, 200));
  const body = { changes: { Body: longer }, base: { Body: long } };
  const changed = await visitor.api('PUT', `records/${table}/${made.body.record.objectId}`, { body });
  assert.equal(changed.status, 200, changed.text.slice(0, 200));
  assert.equal(changed.body.record.Body, longer);
});

test('other bodies are small, and no record is longer than that', async () => {
  const text = 'a'.repeat(3_000_000);
  for (const [method, path, body] of [
    ['POST', `records/${table}`, { requestId: '2', fields: { Body: text } }],
    ['PUT', 'me/password', { oldPassword: 'a', newPassword: text.slice(0, 100_000) }],
    ['POST', 'session', { username: text.slice(0, 100_000), password: 'b' }],
    ['POST', `views/${table}`, { name: text.slice(0, 100_000) }],
  ] as const)
    assert.equal((await visitor.api(method, path, { body })).status, 413, path);
});
