/** Helpers of the record suites: a running service per file, tables with unique names, and assertions on error answers. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { after, before } from 'node:test';
import { isClusterSuite } from './cluster-suites.ts';
import { type Answer, type CallOptions, type EngineName, type Service, startService } from './service.ts';
import { sharedService } from './shared.ts';

/** Records are asserted on field by field. */
export type Json = any;

/** Returns a table or field name that no other test uses. */
export const unique = (prefix: string): string => prefix + randomBytes(5).toString('hex');

export const pointer = (className: string, objectId: string) => ({ __type: 'Pointer', className, objectId });
export const date = (iso: string) => ({ __type: 'Date', iso });
export const master = pointer('_User', 'master');

export const path = (table: string, id?: string): string =>
  `/platform/classes/${encodeURIComponent(table)}${id === undefined ? '' : `/${encodeURIComponent(id)}`}`;

export interface Refusal {
  status?: number;
  code: number | readonly number[];
  error?: string | RegExp;
}

/** Asserts that an answer shows no internals (SQL, stacks, paths). */
export function assertClean(answer: Pick<Answer, 'text'>): void {
  const inside =
    /SQLITE_|syntax error|near "|no such (table|column)|node_modules|\.[tj]s:\d|\n\s+at |file:\/\/|\/src\/|\/tmp\/|\/home\/|INSERT INTO|SELECT .* FROM/;
  assert.doesNotMatch(answer.text, inside);
}

/** Asserts an error: HTTP 4xx with a JSON body {code, error}; code 101 is 404, every other code 400. Reference: errors.md#form-of-an-error. */
export function assertRefused(answer: Pick<Answer, 'status' | 'text' | 'body'>, { status, code, error }: Refusal): void {
  const codes = typeof code === 'number' ? [code] : code;
  assert.ok(codes.includes(answer.body?.code), `code ${codes} expected, got ${answer.status} ${answer.text.slice(0, 300)}`);
  assert.equal(answer.status, status ?? (answer.body.code === 101 ? 404 : 400), answer.text.slice(0, 300));
  assert.deepEqual(Object.keys(answer.body).sort(), ['code', 'error']);
  if (typeof error === 'string') assert.equal(answer.body.error, error);
  else if (error) assert.match(answer.body.error, error);
  assertClean(answer);
}

/** Returns the exact text of code 111. */
export const mismatch = (table: string, field: string, expected: string, got: string): Refusal => ({
  code: 111,
  error: `schema mismatch for ${table}.${field}; expected ${expected} but got ${got}`,
});

export interface FieldType {
  type: string;
  targetClass?: string;
}

export interface Store {
  service(): Service;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Creates a table through the schema endpoint and returns its name. */
  table(fields?: Record<string, FieldType | string>, name?: string): Promise<string>;
  /** Creates a record, which must succeed; returns its objectId. */
  create(table: string, body: unknown, options?: CallOptions): Promise<string>;
  post(table: string, body: unknown, options?: CallOptions): Promise<Answer>;
  read(table: string, id: string): Promise<Json>;
  get(table: string, id: string, options?: CallOptions): Promise<Answer>;
  update(table: string, id: string, body: unknown, options?: CallOptions): Promise<Json>;
  put(table: string, id: string, body: unknown, options?: CallOptions): Promise<Answer>;
  remove(table: string, id: string, options?: CallOptions): Promise<Answer>;
  /** Returns every record of the table in order of creation. */
  all(table: string): Promise<Json[]>;
  /** Returns the schema's fields, or undefined if the table does not exist. */
  fields(table: string): Promise<Json | undefined>;
  /** Returns the objectIds in a Relation, sorted. */
  members(table: string, id: string, key: string, target: string): Promise<string[]>;
  /** Returns schema and records as text: equal before and after a request that must have no effect. */
  snapshot(table: string): Promise<string>;
}

/** Returns field types in wire form. Only Pointer and Relation carry a targetClass, so tables of cases may give one for every type. */
const wide = (fields: Record<string, FieldType | string>) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const { type, targetClass } = typeof field === 'string' ? { type: field } : field;
      return [name, type === 'Pointer' || type === 'Relation' ? { type, targetClass } : { type }];
    }),
  );

/** Uses the service that the suites of this process share, from the surrounding `describe` on. */
export function useStore(engine: EngineName): Store {
  let running: Service | undefined;
  const isCluster = isClusterSuite();
  before(async () => {
    running = await sharedService(engine, {}, isCluster);
  });
  return storeOf(() => {
    assert.ok(running, 'the service runs');
    return running;
  });
}

/** Starts a service for the surrounding `describe` alone, stopped after its last test: for tests that would affect others or be affected. */
export function useOwnStore(engine: EngineName): Store {
  let running: Service | undefined;
  const isCluster = isClusterSuite();
  before(async () => {
    running = await startService({ engine, isCluster });
  });
  after(async () => {
    await running?.stop();
  });
  return storeOf(() => {
    assert.ok(running, 'the service runs');
    return running;
  });
}

/** Returns the operations of the suites on records of a service. */
export function storeOf(service: () => Service): Store {
  const call: Store['call'] = (method, at, options) => service().call(method, at, options);
  const post: Store['post'] = (table, body, options) => call('POST', path(table), { ...options, body });
  const put: Store['put'] = (table, id, body, options) => call('PUT', path(table, id), { ...options, body });
  const get: Store['get'] = (table, id, options) => call('GET', path(table, id), options);
  const schema = (table: string) => call('GET', `/platform/schemas/${encodeURIComponent(table)}`);
  const list = (table: string, where: object = {}) => call('GET', path(table), { query: { where, limit: 10000 } });
  const succeeded = (answer: Answer, status: number): Json => {
    assert.equal(answer.status, status, answer.text.slice(0, 500));
    return answer.body;
  };
  return {
    service,
    call,
    post,
    put,
    get,
    remove: (table, id, options) => call('DELETE', path(table, id), options),
    async table(fields = {}, name = unique('T')) {
      const answer = await call('POST', `/platform/schemas/${name}`, { body: { className: name, fields: wide(fields) } });
      assert.ok(answer.status < 300, answer.text);
      return name;
    },
    create: async (table, body, options) => succeeded(await post(table, body, options), 201).objectId,
    read: async (table, id) => succeeded(await get(table, id), 200),
    update: async (table, id, body, options) => succeeded(await put(table, id, body, options), 200),
    all: async (table) => succeeded(await list(table), 200).results,
    async fields(table) {
      const answer = await schema(table);
      if (answer.status === 200) return answer.body.fields;
      assert.equal(answer.status, 400, answer.text);
      return undefined;
    },
    async members(table, id, key, target) {
      const answer = await list(target, { $relatedTo: { object: pointer(table, id), key } });
      return succeeded(answer, 200)
        .results.map((row: Json) => row.objectId)
        .sort();
    },
    snapshot: async (table) => (await schema(table)).text + (await list(table)).text,
  };
}

export interface RawRequest {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Sends the body without a Content-Length. */
  chunked?: boolean;
}

/** Sends one request byte for byte; a response that arrives before the whole body was read counts too. */
export function send({ url }: Pick<Service, 'url'>, { method = 'POST', path: at, headers = {}, body = '', chunked }: RawRequest) {
  return new Promise<Answer>((resolve, reject) => {
    const bytes = Buffer.from(body as string);
    const length = chunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': String(bytes.length) };
    const { hostname, port } = new URL(url);
    const sent = request({ hostname, port, path: at, method, headers: { ...headers, ...length }, agent: false }, (answer) => {
      const parts: Buffer[] = [];
      const finish = () => {
        const text = Buffer.concat(parts).toString();
        let parsed: unknown;
        try {
          parsed = JSON.parse(text);
        } catch {
          parsed = undefined;
        }
        resolve({ status: answer.statusCode ?? 0, headers: new Headers(), text, body: parsed });
      };
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', finish);
      answer.on('error', finish);
    });
    sent.on('error', reject);
    sent.end(bytes);
  });
}

/** Returns the headers of a request with the master key. */
export const masterHeaders = (service: Service): Record<string, string> => ({
  'X-Platform-Application-Id': service.appId,
  'X-Platform-Master-Key': service.masterKey,
  'Content-Type': 'application/json',
});
