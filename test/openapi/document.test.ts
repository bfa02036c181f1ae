/** `openapi.json`: who reads it, what it says of tables, and its version. Reference: openapi.md. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { create, defineTable, tableName } from '../support/query.ts';
import type { Service } from '../support/service.ts';
import { signUp } from '../support/users.ts';
import { address, describedService, description, operationsOf, requested, resolved } from './described.ts';

describe('openapi.json', () => {
  let service: Service;
  before(async () => {
    service = await describedService();
  });

  test('keys read it; others are refused as by the schema endpoints', async () => {
    for (const as of ['master', 'apiKey'] as const) assert.equal((await requested(service, 'Tags', { as })).status, 200, as);
    const { token } = await signUp(service);
    for (const options of [{ as: 'anonymous' as const }, { session: token }]) {
      const answer = await requested(service, 'Tags', options);
      const schemas = await service.call('GET', '/platform/schemas/Tags', options);
      assert.deepEqual([answer.status, answer.body], [403, { error: 'unauthorized: master key is required' }]);
      assert.deepEqual([schemas.status, schemas.body], [answer.status, answer.body]);
    }
  });

  test('wrong parameters are refused', async () => {
    for (const [query, code, error] of [
      [{ tables: 'Tags,Nowhere' }, 103, 'Class Nowhere does not exist.'],
      // A hidden table.
      [{ tables: '_StoredFile' }, 103, 'Class _StoredFile does not exist.'],
      [{ tables: '__proto__' }, 103, 'Class __proto__ does not exist.'],
      [{ table: 'Tags' }, 102, 'Invalid parameter for query: table'],
    ] as const) {
      const answer = await service.call('GET', address, { as: 'apiKey', query });
      assert.deepEqual([answer.status, answer.body], [400, { code, error }]);
    }
    const batch = { requests: [{ method: 'GET', path: address }] };
    assert.equal((await service.call('POST', '/platform/batch', { body: batch })).status, 400);
  });

  test('`docs` of the service leads to it', async () => {
    const { docs } = (await service.call('GET', '/')).body;
    assert.equal(docs, `${service.url}${address}`);
    const headers = { 'X-Platform-Application-Id': service.appId, 'X-Platform-Master-Key': service.masterKey };
    const answer = await fetch(docs, { headers });
    assert.equal(answer.status, 200);
    assert.match(String(answer.headers.get('content-type')), /^application\/json/);
    const whole: any = await answer.json();
    assert.deepEqual([whole.openapi, whole.servers], ['3.1.0', [{ url: service.url }]]);
  });

  test('all tables without the hidden ones, or those that `tables` names', async () => {
    const { results } = (await service.call('GET', '/platform/schemas')).body;
    const listed = results.map(({ className }: { className: string }) => className);
    // The list has what a system models. The description has all that is read by its name.
    const names = [...listed, '_AdminLog'].sort();
    const tablesOf = (document: Awaited<ReturnType<typeof description>>) =>
      Object.keys(document.paths).flatMap((path) => /^\/platform\/classes\/(\w+)$/.exec(path)?.slice(1) ?? []);
    assert.deepEqual(tablesOf(await description(service)).sort(), names);
    assert.deepEqual(tablesOf(await description(service, ' Tasks,,Accounts')), ['Accounts', 'Tasks']);
  });

  test('a table: types, targets, labels, required fields, defaults, permissions', async () => {
    const [table, target] = [tableName('T'), tableName('T')];
    await defineTable(service, target, { Name: 'String' });
    await defineTable(service, table, { Up: `Pointer:${target}`, All: `Relation:${target}`, When: 'Date', Doc: 'File' });
    const body = {
      fields: { Email: { type: 'String', required: true }, State: { type: 'String', defaultValue: 'open' } },
      classLevelPermissions: { find: { 'role:Sales': true } },
      uniqueIndexes: { email: { fields: ['Email'], as: 'nocase' } },
    };
    assert.equal((await service.call('PUT', `/platform/schemas/${table}`, { body })).status, 200);
    // Labels are texts of users: they may be like references, ends of comments, anything.
    const label = 'תווית "*/ #/components/schemas/constructor';
    await create(service, '_Dictionary', { tblName: table, field: 'When', value: label });
    await create(service, '_Dictionary', { tblName: table, value: 'טבלה' });
    const { paths, components } = await description(service, table);
    const path = paths[`/platform/classes/${table}`];
    assert.deepEqual(path['x-permissions'].find, { 'role:Sales': true });
    assert.deepEqual(path['x-unique-indexes'], [{ name: 'email', fields: ['Email'], as: 'nocase' }]);
    const { title, allOf } = components.schemas[`${table}Record`];
    assert.equal(title, 'טבלה');
    const [, , own] = allOf;
    assert.deepEqual(own.required, ['Email']);
    assert.deepEqual(own.properties.Doc, { $ref: '#/components/schemas/FileValue' });
    const { properties } = components.schemas[`${table}Fields`];
    assert.deepEqual(properties.When, { $ref: '#/components/schemas/DateValue', title: label });
    assert.deepEqual(properties.Up, { $ref: `#/components/schemas/${target}Pointer` });
    assert.deepEqual(properties.State, { type: 'string', default: 'open' });
    assert.deepEqual(components.schemas[`${target}Pointer`].properties.className.enum, [target]);
    const [, , sent] = components.schemas[`${table}Create`].allOf;
    assert.deepEqual([sent.required, sent.properties.Doc], [['Email'], { $ref: '#/components/schemas/FileInput' }]);
  });

  test('operations that are refused whoever asks are not described, nor their bodies', async () => {
    const { paths, components } = await description(service, '_AdminLog,_syslogTriggers,_RequestLog');
    const methods = (path: string) => Object.keys(paths[path]).filter((name) => /^(?:get|post|put|delete)$/.test(name));
    const of = (table: string) => [`/platform/classes/${table}`, `/platform/classes/${table}/{objectId}`].map(methods);
    assert.deepEqual(of('_AdminLog'), [['get'], ['get']]);
    assert.deepEqual(of('_syslogTriggers'), [
      ['get', 'post', 'put'],
      ['get', 'put'],
    ]);
    assert.deepEqual(of('_RequestLog'), [
      ['get', 'post', 'put', 'delete'],
      ['get', 'put', 'delete'],
    ]);
    const bodies = Object.keys(components.schemas).filter((name) => /^_AdminLog(?:Create|Update)$/.test(name));
    assert.deepEqual(bodies, []);
    // Those that are left out answer so.
    for (const [method, path] of [
      ['POST', '/platform/classes/_AdminLog'],
      ['PUT', '/platform/classes/_AdminLog/abcdefghij'],
      ['DELETE', '/platform/classes/_AdminLog/abcdefghij'],
      ['DELETE', '/platform/classes/_syslogTriggers/abcdefghij'],
    ] as const)
      assert.equal((await service.call(method, path, { body: {} })).body.code, 119, `${method} ${path}`);
  });

  test('functions that the system may call, with their input', async () => {
    const { paths } = await description(service, 'Tags');
    const called = paths[`/functions/${service.appId}/order`].post;
    const { schema } = called.requestBody.content['application/json'];
    assert.deepEqual([schema.required, schema.properties.amount], [['name'], { type: 'number' }]);
    assert.ok(paths[`/functions/${service.appId}/getlead`]);
    assert.ok(!paths[`/functions/${service.appId}/foreign`]);
  });

  test('the ETag is that of the schema: 304 until it, or a label, changes', async () => {
    const table = tableName('T');
    await defineTable(service, table, { Name: 'String' });
    const etagOf = async () => String((await requested(service, table)).headers.get('etag'));
    const first = await etagOf();
    assert.match(first, /^"[\w-]+"$/);
    assert.equal(await etagOf(), first);
    const unchanged = await requested(service, table, { headers: { 'If-None-Match': `"other", W/${first}` } });
    assert.deepEqual([unchanged.status, unchanged.text, unchanged.headers.get('etag')], [304, '', first]);
    await create(service, '_Dictionary', { tblName: table, field: 'Name', value: 'שם' });
    const labelled = await etagOf();
    assert.notEqual(labelled, first);
    // A record changes nothing.
    await create(service, table, { Name: 'x' });
    assert.equal(await etagOf(), labelled);
    await create(service, table, { Another: 1 });
    const changed = await requested(service, table, { headers: { 'If-None-Match': labelled } });
    assert.equal(changed.status, 200);
    assert.deepEqual(changed.body.components.schemas[`${table}Fields`].properties.Another, { type: 'number' });
  });

  test('compressed or not, and by HEAD, it is the same', async () => {
    const plain = await requested(service, 'Tags', { headers: { 'Accept-Encoding': 'identity' } });
    const refused = await requested(service, 'Tags', { headers: { 'Accept-Encoding': 'gzip;q=0' } });
    const headers = { 'X-Platform-Application-Id': service.appId, 'X-Platform-API-Key': service.apiKey };
    const url = `${service.url}${address}?tables=Tags`;
    const zipped = await fetch(url, { headers: { ...headers, 'Accept-Encoding': 'gzip' } });
    const encodings = [plain, refused, zipped].map((answer) => answer.headers.get('content-encoding'));
    assert.deepEqual(encodings, [null, null, 'gzip']);
    assert.equal(await zipped.text(), plain.text);
    assert.equal(refused.text, plain.text);
    assert.match(String(plain.headers.get('vary')), /accept-encoding/i);
    const head = await service.call('HEAD', `${address}?tables=Tags`);
    assert.deepEqual([head.status, head.text, head.headers.get('etag')], [200, '', plain.headers.get('etag')]);
  });

  test('the ids of operations and the names of components are plain and unique', async () => {
    const table = tableName('Twin');
    for (const name of [table, table.toUpperCase()]) await defineTable(service, name, { Name: 'String' });
    const document = await description(service);
    const ids = operationsOf(document).map(([, , { operationId }]) => operationId.toLowerCase());
    assert.equal(new Set(ids).size, ids.length);
    const names = Object.keys(document.components.schemas);
    assert.equal(new Set(names.map((name) => name.toLowerCase())).size, names.length);
    for (const name of names) assert.match(name, /^[a-zA-Z0-9._-]+$/);
  });

  test('generators can read it: parameters have a schema, and objects in conditions a name', async () => {
    const document = await description(service, 'Accounts');
    const parameters = operationsOf(document).flatMap(([, , { parameters = [] }]) => parameters);
    for (const one of parameters) assert.ok(resolved(document, one).schema, JSON.stringify(one));
    const [where] = document.paths['/platform/classes/Accounts'].get.parameters;
    const of = { $ref: '#/components/schemas/AccountsWhere' };
    assert.deepEqual(where.schema, { type: 'string', contentMediaType: 'application/json', contentSchema: of });
    for (const schema of Object.values(document.components.schemas.Conditions.properties))
      assert.doesNotMatch(JSON.stringify(schema), /"type":"object"/);
  });

  test('@redocly/openapi-core finds no error', async () => {
    // These two warn of matters of style: a description for each tag, and 4XX where `default` stands for all errors.
    const rules = { 'tag-description': 'off', 'operation-4xx-response': 'off' } as const;
    const config = await createConfig({ extends: ['recommended'], rules });
    // Of each kind of table and field: all would take seconds.
    const { text } = await requested(service, 'Accounts,Tasks,Notes,Sales,CallRecords,Config,_User,_Role,_Session,_RequestLog');
    const problems = await lintFromString({ source: text, absoluteRef: '/openapi.json', config });
    assert.deepEqual(
      problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
      [],
    );
  });
});
