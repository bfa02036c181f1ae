import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fastify } from 'fastify';
import { master } from '../../access/index.ts';
import { documentOf } from '../../openapi/document/assembly/document.ts';
import { selectTables } from '../../openapi/model/read-tables.ts';
import { masterContext } from '../../records/testing/context.ts';
import { applyChanges, emptySchema } from '../../schema/change.ts';
import type { Store } from '../../storage/port.ts';
import { registerDataEndpoints } from '../endpoint/endpoint-handler.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { registerFiles } from '../files/index.ts';
import { registerFunctions } from '../functions/index.ts';
import type { Readiness } from '../plugins/readiness.ts';
import { registerHealth, registerHome } from '../plugins/service-info.ts';
import { dataEndpoints } from './index.ts';

/** Addresses that are not described, each with the reason. */
const undescribed = new Set([
  // Parse clients send a trailing slash.
  'GET /platform/schemas/',
  // These answer with an error always.
  ...['GET', 'POST'].flatMap((method) => ['', '/:appId'].map((app) => `${method} /platform/functions${app}/:name`)),
  // It does what POST does, with a query string.
  'GET /functions/:appId/:name',
  // It answers 403: an upload is not read by POST.
  'POST /platform/files/:appId/:name',
]);

test('all addresses are described, and no others', async () => {
  const served = await servedAddresses();
  const described = await describedAddresses();
  const isLike = (one: string) => (other: string) => {
    const [parts, others] = [one, other].map((address) => address.split(/[ /]/)) as [string[], string[]];
    const isVariable = (part = '') => /^[:{]/.test(part);
    return (
      parts.length === others.length &&
      parts.every((part, at) => part === others[at] || isVariable(part) || isVariable(others[at]))
    );
  };
  const missing = served.filter((address) => !undescribed.has(address) && !described.some(isLike(address)));
  assert.deepEqual(missing, [], 'served and not described');
  assert.deepEqual(
    described.filter((address) => !served.some(isLike(address))),
    [],
    'described and not served',
  );
});

/** The addresses of the server, as it registers them. */
async function servedAddresses(): Promise<string[]> {
  const server = fastify({ exposeHeadRoutes: false });
  const served: string[] = [];
  server.addHook('onRoute', ({ method, url }) => {
    // HEAD answers as GET.
    for (const each of [method].flat()) if (each !== 'HEAD') served.push(`${each} ${url}`);
  });
  const services = { addresses: { base: '' }, trustProxy: false } as unknown as HttpServices;
  const endpoints = dataEndpoints(services, null, () => {});
  // Each path accepts POST with `_method`: that is no address of its own.
  registerDataEndpoints(server, services, []);
  for (const { method, path } of endpoints) served.push(`${method} /platform${path}`);
  registerFiles(server, services);
  registerFunctions(server, services, { functionBodyBytes: 1, rateLimits: { functions: 0 } });
  registerHealth(server, () => false, {} as Readiness);
  registerHome(server, services.addresses);
  await server.ready();
  await server.close();
  return served;
}

/** The addresses of a description, with `/classes/Table` for all tables. */
async function describedAddresses(): Promise<string[]> {
  const names = ['Table', '_User', '_Role', '_Session'];
  const changes = names.map((className) => ({ kind: 'createTable' as const, className }));
  const schema = applyChanges(emptySchema, changes);
  const store = { schema: () => schema, durableSchema: () => schema, tableVersion: () => 0 } as unknown as Store;
  const context = { ...masterContext(store), principal: master };
  const tables = await selectTables(context);
  const text = await documentOf({ appId: 'app', base: '', tables, functions: [] });
  const { paths } = JSON.parse(text) as { paths: Record<string, object> };
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((method) => ['get', 'post', 'put', 'delete'].includes(method))
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
}
