import { type Answers, type Item, type ItemsOf, itemsOf, type Outcomes, sendBatch, sendTransaction } from './batch.ts';
import { Files, Functions, Sessions, Users } from './services.ts';
import { TableClient } from './table.ts';
import { type CallOptions, type Fetch, Transport, type WriteOptions } from './transport.ts';
import type { AnySchema, SchemaTypes } from './types.ts';

/** One of these; none of them only reaches what needs the application id alone. */
export interface Credential {
  readonly apiKey?: string | undefined;
  readonly masterKey?: string | undefined;
  readonly sessionToken?: string | undefined;
}

export interface ClientOptions extends Credential, CallOptions {
  /** The base of the service, without `/platform`. */
  readonly url: string;
  readonly appId: string;
  /** Stands in the place of `fetch`. */
  readonly fetch?: Fetch | undefined;
}

/** Makes the items of a batch: `(items) => [items.Tasks.create({…})]`. */
export type Items<S> = { table<T extends keyof S & string>(name: T): ItemsOf<S[T]> } & {
  readonly [T in Exclude<keyof S, 'table'>]: ItemsOf<S[T]>;
};

/** Items, or what makes them. */
type Given<S, L extends readonly Item[]> = L | ((items: Items<S>) => L);

/** A client of one system. */
export interface CoreClient<S> {
  readonly appId: string;
  readonly users: Users<S>;
  readonly sessions: Sessions;
  readonly files: Files;
  readonly functions: Functions;
  /** Returns a table by its name, such as one that is called like a member of the client. */
  table<T extends keyof S & string>(name: T): TableClient<S, T>;
  /** Sends several writes in one request. Each succeeds or fails by itself, so each outcome has to be looked at. */
  batch<const L extends readonly Item[]>(items: Given<S, L>, options?: WriteOptions): Promise<Outcomes<L>>;
  /** Makes several writes in one commit: all of them, or none and an error whose `details.index` says which was refused. */
  transaction<const L extends readonly Item[]>(items: Given<S, L>, options?: WriteOptions): Promise<Answers<L>>;
  /** Returns a client with another credential and the same settings. */
  as(credential: Credential): Client<S>;
  /** Sends a request to an address below `/platform/` that has no method here, such as `schemas/Accounts`. Only GET is repeated. */
  request<A = unknown>(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    options?: CallOptions & { readonly query?: Readonly<Record<string, unknown>>; readonly body?: unknown },
  ): Promise<A>;
}

/** A client with its tables: `crm.Accounts`. */
export type Client<S = AnySchema> = CoreClient<S> & { readonly [T in Exclude<keyof S, keyof CoreClient<S>>]: TableClient<S, T> };

/**
 * Returns a client of a system. Nothing is sent until one of its methods is called.
 * @throws TypeError for settings that cannot work; its text never holds a credential
 */
export function client<S extends SchemaTypes<S> = AnySchema>({
  url,
  appId,
  apiKey,
  masterKey,
  sessionToken,
  ...rest
}: ClientOptions): Client<S> {
  const base = baseOf(url);
  const fetch: Fetch = rest.fetch ?? ((address, init) => globalThis.fetch(address, init));
  return build<S>(new Transport({ ...rest, base, fetch, headers: headersOf(appId, { apiKey, masterKey, sessionToken }) }), appId);
}

function build<S>(transport: Transport, appId: string): Client<S> {
  const tables = new Map<string, TableClient<S, never>>();
  const table = (name: string) => {
    const known = tables.get(name) ?? new TableClient<S, never>(transport, name);
    tables.set(name, known);
    return known;
  };
  const itemsFor = (given: Given<S, readonly Item[]>) =>
    typeof given === 'function' ? given(byName({ table: itemsOf }, itemsOf) as unknown as Items<S>) : given;
  const core = {
    appId,
    users: new Users<S>(transport),
    sessions: new Sessions(transport),
    files: new Files(transport),
    functions: new Functions(transport, appId),
    table,
    batch: async (items: Given<S, readonly Item[]>, options?: WriteOptions) => sendBatch(transport, itemsFor(items), options),
    transaction: async (items: Given<S, readonly Item[]>, options?: WriteOptions) =>
      sendTransaction(transport, itemsFor(items), options),
    as: (credential: Credential) => build<S>(transport.with(headersOf(appId, credential)), appId),
    request: async (method: 'GET', path: string, { query, body, ...options }: Parameters<CoreClient<S>['request']>[2] = {}) => {
      const call = { method, path: `/platform/${path}`, query, json: body, effect: method === 'GET' ? 'read' : 'once' } as const;
      return (await transport.send(call, options)).body;
    },
  };
  return byName(core, table) as unknown as Client<S>;
}

/** What programs look for in any object: a promise, JSON. Tables of these names are reached by `table()`. */
const foreign = new Set(['then', 'toJSON']);

/** Returns an object whose other members are made by their names. Symbols, members of every object and odd names are no tables. */
function byName<T extends object>(core: T, make: (name: string) => unknown): T {
  return new Proxy(Object.freeze(core), {
    get(target, name) {
      if (typeof name === 'symbol' || name in target || foreign.has(name) || !/^\w+$/.test(name))
        return Reflect.get(target, name);
      return make(name);
    },
  });
}

/** @throws TypeError for an address that is not the base of a service */
function baseOf(url: string): string {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  const path = address?.pathname.replace(/\/+$/, '') ?? '';
  const isBase = /^https?:$/.test(address?.protocol ?? '') && !/[@?#]/.test(url) && !path.endsWith('/platform');
  if (!address || !isBase) throw new TypeError('url is the base of the service, such as https://crm.example.com');
  return address.origin + path;
}

/** @throws TypeError for a credential that no header can hold, and for more than one */
function headersOf(appId: string, { apiKey, masterKey, sessionToken }: Credential): Record<string, string> {
  const headers: Record<string, string> = { 'X-Platform-Application-Id': visible('appId', appId) };
  const credentials = Object.entries({ apiKey, masterKey, sessionToken }).filter(([, value]) => value !== undefined);
  if (credentials.length > 1) throw new TypeError('give one of apiKey, masterKey and sessionToken');
  const names = new Map([
    ['apiKey', 'API-Key'],
    ['masterKey', 'Master-Key'],
    ['sessionToken', 'Session-Token'],
  ]);
  for (const [name, value] of credentials) headers[`X-Platform-${names.get(name)}`] = visible(name, value);
  return headers;
}

function visible(name: string, value: unknown): string {
  if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value))
    throw new TypeError(`${name} is empty, or has characters that no header holds`);
  return value;
}
