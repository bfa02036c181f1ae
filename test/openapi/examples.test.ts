/** The requests that `openapi.json` shows as examples are answered as it says. Reference: openapi.md#examples. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Answer, Service } from '../support/service.ts';
import { signUp } from '../support/users.ts';
import { type Described, describedService, description, type Operation, operationsOf, resolved } from './described.ts';

/** Requests that are sent at a time. */
const AT_A_TIME = 6;

describe('the examples of openapi.json', () => {
  let service: Service;
  let document: Described;
  let token: string;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  before(async () => {
    service = await describedService();
    document = await description(service);
    ajv.addSchema(document, 'doc');
    ({ token } = await signUp(service));
  });

  const bodyExample = (operation: Operation) => operation.requestBody?.content['application/json']?.example;

  /** Fails unless the value is valid against a schema of the description. */
  function assertValid(schema: any, value: unknown, what: string): void {
    const text = JSON.stringify(schema).replaceAll('"#/', '"doc#/');
    const validate = ajv.compile(JSON.parse(text));
    assert.ok(validate(value), `${what}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)}`);
  }

  /** Sends a request with the examples of its parameters and body, and its weakest credential. */
  async function send(path: string, method: string, operation: Operation, place: Record<string, string> = {}): Promise<Answer> {
    const what = `${operation.operationId} ${method} ${path}`;
    const query: Record<string, unknown> = {};
    for (const one of operation.parameters ?? []) {
      const parameter = resolved(document, one);
      const example = parameter.example ?? parameter.content?.['application/json']?.example;
      if (parameter.in === 'query' && example !== undefined) query[parameter.name] = example;
    }
    const body = bodyExample(operation);
    if (body) assertValid(operation.requestBody.content['application/json'].schema, body, what);
    const [credential = {}] = operation.security ?? [{ ApiKey: [] }];
    const session = 'SessionToken' in credential ? { session: token } : {};
    const as = 'MasterKey' in credential ? 'master' : 'ApiKey' in credential ? 'apiKey' : 'anonymous';
    const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(place[name] ?? assert.fail(`${what}: ${name}`)));
    const answer = await service.call(method.toUpperCase(), filled, { as, query, ...(body && { body }), ...session });
    const described = resolved(document, operation.responses[answer.status]);
    assert.ok(described, `${what}: ${answer.status} ${answer.text}`);
    const schema = described.content?.['application/json']?.schema;
    if (schema && answer.headers.get('content-type')?.startsWith('application/json')) assertValid(schema, answer.body, what);
    for (const name of Object.keys(described.headers ?? {})) assert.ok(answer.headers.get(name), `${what}: ${name}`);
    return answer;
  }

  /** Creates, finds, reads, changes and deletes the example of a table. @returns whether it has one */
  async function useTable(path: string): Promise<boolean> {
    const { get: find, post: create } = document.paths[path];
    const found = await send(path, 'get', find);
    assert.equal(typeof found.body.count, 'number', path);
    // A table that nobody writes has none.
    if (!create || bodyExample(create) === undefined) return false;
    const { objectId } = (await send(path, 'post', create)).body;
    const one = `${path}/{objectId}`;
    const { get: read, put: update, delete: remove } = document.paths[one];
    assert.ok(Object.keys(bodyExample(update)).length > 0 || path === '/platform/roles', path);
    for (const [method, operation] of Object.entries({ get: read, put: update, delete: remove }))
      assert.equal((await send(one, method, operation, { objectId })).status, 200);
    return true;
  }

  test('of the records of each table', async () => {
    const paths = Object.keys(document.paths).filter((path) => /^\/platform\/(?:classes\/\w+|users|roles|sessions)$/.test(path));
    const waiting = paths.filter((path) => path !== '/platform/users' && path !== '/platform/roles');
    let used = 0;
    const worker = async () => {
      for (let path = waiting.pop(); path; path = waiting.pop()) if (await useTable(path)) used++;
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, worker));
    // The other names of tables whose examples have unique values.
    for (const path of ['/platform/users', '/platform/roles']) assert.ok(await useTable(path), path);
    assert.ok(used > 90, `${used} of ${paths.length} tables have examples`);
  });

  test('of all other addresses', async () => {
    const place = { className: 'ExampleTable' };
    const inOrder: [path: string, method: string, place?: Record<string, string>][] = [
      ['/platform/schemas/{className}', 'post', place],
      ['/platform/schemas/{className}', 'put', place],
      ['/platform/schemas/{className}', 'get', place],
      ['/platform/schemas/{className}', 'delete', place],
    ];
    const isOfTable = (path: string) => /^\/platform\/(?:classes|users|roles|sessions)\//.test(`${path}/`);
    const hasPlace = (path: string) => /\{(?!className)/.test(path);
    for (const [path, method, operation] of operationsOf(document)) {
      const isRead = method === 'get' && operation.operationId !== 'logInByGet' && operation.operationId !== 'explain';
      const isShown = isRead || bodyExample(operation) !== undefined;
      if (!isShown || hasPlace(path) || path.startsWith('/platform/schemas/')) continue;
      if (!isOfTable(path) || path.endsWith('/me')) inOrder.push([path, method, { className: 'Accounts' }]);
    }
    for (const [path, method, of] of inOrder) await send(path, method, document.paths[path][method], of);
    const shown = inOrder.map(([path]) => path);
    for (const path of ['/platform/batch', '/platform/classes-aggregate/{className}', `/functions/${service.appId}/getlead`])
      assert.ok(shown.includes(path), path);
  });

  test('errors have the described form and a code of the list', async () => {
    const { schema } = document.components.responses.Error.content['application/json'];
    for (const [method, path, options] of [
      ['GET', '/platform/classes/Accounts/nothing', {}],
      ['GET', '/platform/classes/Accounts', { query: { where: '{"a":{"$no":1}}' } }],
      ['POST', '/platform/classes/Accounts', { body: { Name: 1, IsAccount: 'x' } }],
      ['GET', '/platform/classes/Accounts', { as: 'anonymous' }],
      ['GET', '/platform/schemas', { as: 'anonymous' }],
    ] as const) {
      const answer = await service.call(method, path, options);
      assert.ok(answer.status >= 400, `${path}: ${answer.text}`);
      assertValid(schema, answer.body, path);
    }
  });
});
