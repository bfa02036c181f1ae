/** The service that the suites of this folder share, and its description. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import type { Answer, CallOptions, Service } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';

/** A custom function whose input is described. */
const order = `import { defineFunction, z } from 'record-data-service';
export default defineFunction({
  input: z.object({ name: z.string(), amount: z.number().optional() }),
  run: ({ input }) => ({ ordered: input.name }),
});`;
/** One of another system. */
const foreign = `export default { systems: ['another'], run: () => 1 };`;

/** FUNCTIONS_DIR of the service. */
export const directory = mkdtempSync(join(tmpdir(), 'rds-functions-'));
writeFileSync(join(directory, 'order.ts'), order);
writeFileSync(join(directory, 'foreign.mjs'), foreign);
after(() => rmSync(directory, { recursive: true }));

export const describedService = (): Promise<Service> => sharedService('sqlite', { FUNCTIONS_DIR: directory });

export const address = '/platform/openapi.json';

/** Requests the description. */
export const requested = (service: Service, tables?: string, options: CallOptions = {}): Promise<Answer> =>
  service.call('GET', address, { as: 'apiKey', ...(tables !== undefined && { query: { tables } }), ...options });

export interface Operation {
  operationId: string;
  security?: Record<string, unknown>[];
  parameters?: any[];
  requestBody?: any;
  responses: Record<string, any>;
}

export interface Described {
  openapi: string;
  servers: { url: string }[];
  paths: Record<string, any>;
  components: { schemas: Record<string, any>; parameters: Record<string, any>; responses: Record<string, any> };
}

/** Returns the description. */
export async function description(service: Service, tables?: string): Promise<Described> {
  const answer = await requested(service, tables);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

const methods = ['get', 'post', 'put', 'delete'];

/** Returns all operations with their paths. */
export const operationsOf = ({ paths }: Described): [path: string, method: string, operation: Operation][] =>
  Object.entries(paths).flatMap(([path, item]) =>
    methods.filter((method) => item[method]).map((method): [string, string, Operation] => [path, method, item[method]]),
  );

/** Resolves a reference into the description. */
export function resolved(document: Described, value: any): any {
  if (value?.$ref === undefined) return value;
  return (value.$ref as string)
    .slice(2)
    .split('/')
    .reduce((at: any, name) => at[name], document);
}
