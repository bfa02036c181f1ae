import assert from 'node:assert/strict';
import { test } from 'node:test';
import { master } from '../../access/index.ts';
import type { JsonValue } from '../../kernel/json.ts';
import { masterContext } from '../../records/testing/context.ts';
import { applyChange, emptySchema } from '../../schema/change.ts';
import type { Store } from '../../storage/port.ts';
import type { ApiRequest } from '../endpoint/endpoint.ts';
import { schemaEndpoints } from './schemas.ts';

/** A store that keeps its schema and has no records. */
function schemaStore(): Store {
  let schema = emptySchema;
  const write: Store['write'] = async ({ plan }) => {
    schema = plan(schema).changes.reduce(applyChange, schema);
    return { returned: '' };
  };
  return { schema: () => schema, durableSchema: () => schema, write } as Store;
}

const store = schemaStore();

async function call(
  method: string,
  path: string,
  request: { query?: Record<string, JsonValue>; body?: JsonValue; params?: ApiRequest['params'] } = {},
) {
  const endpoint = schemaEndpoints.find((each) => each.method === method && each.path === path);
  assert.ok(endpoint, `${method} ${path}`);
  const { query = {}, params = {}, body } = request;
  const context = masterContext(store);
  const reply = await endpoint.handle({
    context,
    principal: master,
    params,
    query: new Map(Object.entries(query)),
    body,
  } as unknown as ApiRequest);
  assert.equal(reply.status, 200);
  return JSON.parse(reply.json as string);
}

const one = '/schemas/:className';
const params = { className: 'T' };

test('a table is made by path or by body, changed, listed, read and deleted', async () => {
  assert.equal((await call('POST', one, { params })).className, 'T');
  assert.equal((await call('POST', '/schemas', { body: { className: 'U' } })).className, 'U');
  const body = { fields: { n: { type: 'Number' } } };
  assert.deepEqual((await call('PUT', one, { params, body })).fields.n, { type: 'Number' });
  assert.deepEqual((await call('GET', one, { params })).triggers, []);
  assert.equal((await call('GET', '/schemas')).results.length, 2);
  assert.deepEqual(await call('DELETE', one, { params }), {});
  await assert.rejects(call('GET', one, { params }), { key: 'classMissing' });
});

test('withDictionary is the only parameter, and true or false', async () => {
  for (const withDictionary of ['true', 'false', true, false]) await call('GET', '/schemas', { query: { withDictionary } });
  await assert.rejects(call('GET', '/schemas', { query: { withDictionary: 'yes' } }), { key: 'badParameterValue' });
  await assert.rejects(call('GET', one, { params, query: { limit: '1' } }), { key: 'invalidParameter' });
});

test('a body that is not an object is 107', async () => {
  for (const body of [[], 'x', 5, null] as JsonValue[])
    await assert.rejects(call('PUT', one, { params, body }), { key: 'invalidJson' });
});
