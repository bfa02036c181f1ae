/** A separate system on an engine, in which tests call the data addresses of the console as its users. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import type { Principal } from '../../../src/access/index.ts';
import { WriteRelay } from '../../../src/automation/matching/trigger-observer.ts';
import { hooksWith } from '../../../src/command-context.ts';
import { dataEndpoints } from '../../../src/console/data/index.ts';
import type { ApiEndpoint } from '../../../src/console/protocol/api-endpoint.ts';
import type { CrmContext, CrmServices } from '../../../src/crm/context.ts';
import { ServiceError } from '../../../src/errors/fail.ts';
import type { JsonObject, JsonValue } from '../../../src/kernel/json.ts';
import {
  createRecord,
  deleteRecord,
  type RecordContext,
  readFirst,
  updateRecord,
  updateSchema,
} from '../../../src/records/index.ts';
import { noFiles } from '../../../src/records/testing/context.ts';
import type { Engine } from '../../../src/storage/engine.ts';
import type { Store } from '../../../src/storage/port.ts';
import { PostgresEngine } from '../../../src/storage/postgres/index.ts';
import { testDatabase } from '../../../src/storage/postgres/testing/server.ts';
import { addressesOf } from '../../../src/storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../../src/storage/sqlite/engine.ts';
import { entryOf } from '../../../src/storage/testing/entry.ts';
import { openAnyway } from '../../../src/storage/testing/open.ts';
import { provision } from '../../../src/systems/provision.ts';
import { Registration, System } from '../../../src/systems/system.ts';
import { userCaller } from '../../../src/users/index.ts';
import { unique } from '../../support/records.ts';
import type { EngineName } from '../../support/service.ts';

export type Answer = any;

export interface CallParts {
  readonly query?: Record<string, string | number | object>;
  readonly body?: JsonValue;
}

/** A signed-in user. */
export interface Caller {
  readonly id: string;
  /** Calls an address as this user: `GET /rows/Accounts`. */
  call(address: string, parts?: CallParts): Promise<Answer>;
  /** The same call, which must be refused. */
  refused(address: string, parts?: CallParts): Promise<ServiceError>;
  context(): Promise<CrmContext>;
}

export interface TestSystem {
  readonly store: Store;
  close(): Promise<void>;
  /** Creates a user with these roles. */
  user(...roles: string[]): Promise<Caller>;
  caller(userId: string): Caller;
  /** Creates a record with the master's rights. @returns its objectId */
  create(className: string, fields: JsonObject): Promise<string>;
  update(className: string, objectId: string, fields: JsonObject): Promise<void>;
  remove(className: string, objectId: string): Promise<void>;
  /** Changes a table's definition, as schema endpoints take it. */
  define(className: string, definition: JsonObject): Promise<void>;
}

/** What an engine stores in: a directory, or a database. */
interface Place {
  open(): Promise<Engine>;
  copy(): Promise<Place>;
  remove(): Promise<void>;
}

const settings = { timeLimit: 30_000, report: assert.fail, addressesOf };

async function directory(source?: string): Promise<Place> {
  const path = mkdtempSync(join(tmpdir(), 'rds-console-'));
  if (source) cpSync(source, path, { recursive: true });
  return {
    open: async () => new SqliteEngine(path, settings),
    copy: () => directory(path),
    remove: async () => rmSync(path, { recursive: true }),
  };
}

async function database(template?: string): Promise<Place> {
  const { url, drop } = await testDatabase(template);
  return {
    open: () => PostgresEngine.connect(url, { ...settings, connections: 6 }),
    copy: () => database(new URL(url).pathname.slice(1)),
    remove: drop,
  };
}

/** By engine: a closed new system, which `openSystem` copies, because creating one on PostgreSQL takes more time than most suites. */
const provisioned = new Map<EngineName, Promise<Place>>();
after(async () => {
  for (const place of provisioned.values()) await (await place).remove();
});

async function provisionedPlace(name: EngineName): Promise<Place> {
  const place = await (name === 'sqlite' ? directory() : database());
  const engine = await place.open();
  const store = await openAnyway(engine, 'app');
  await provision(store);
  await store.close();
  await engine.close();
  return place;
}

const entry = entryOf('app', { name: 'Example Ltd' });

/** Opens a system in the state of a new one. */
export async function openSystem(name: EngineName): Promise<TestSystem> {
  const source = provisioned.get(name) ?? provisionedPlace(name);
  provisioned.set(name, source);
  const place = await (await source).copy();
  const engine = await place.open();
  const store = await openAnyway(engine, 'app');
  const close = async () => {
    await store.close();
    await engine.close();
    await place.remove();
  };
  return systemOf(store, close);
}

/** Returns the system of an open store. */
export function systemOf(store: Store, close = async (): Promise<void> => {}): TestSystem {
  const system = new System(new Registration(entry, [], 'salt'), store);
  const hooks = hooksWith(noFiles, new WriteRelay());
  const asPrincipal = (principal: Principal): RecordContext => ({ appId: 'app', store, principal, hooks, referer: null });
  const master = asPrincipal({ kind: 'master' });
  const create = async (className: string, fields: JsonObject) => (await createRecord(master, className, fields)).objectId;
  const caller = (id: string): Caller => {
    const context = async (): Promise<CrmContext> => ({
      ...asPrincipal(await userCaller(store, id)),
      system,
      services: {} as CrmServices,
      signal: new AbortController().signal,
    });
    const call = async (address: string, parts: CallParts = {}) => {
      const { endpoint, params } = routed(address);
      const query = Object.entries(parts.query ?? {}).map(([key, value]): [string, string] => [
        key,
        typeof value === 'object' ? JSON.stringify(value) : String(value),
      ]);
      return JSON.parse(JSON.stringify(await endpoint.run(await context(), { params, query: new Map(query), body: parts.body })));
    };
    return {
      id,
      call,
      context,
      async refused(address, parts) {
        const error = await call(address, parts).then(
          (answer) => assert.fail(`${address} answered ${JSON.stringify(answer).slice(0, 300)}`),
          (thrown: unknown) => thrown,
        );
        if (error instanceof ServiceError) return error;
        throw error;
      },
    };
  };
  return {
    store,
    close,
    caller,
    create,
    async user(...roles) {
      const username = unique('user-');
      const id = await create('_User', { username, name: `Name of ${username}`, password: 'Right1Pass' });
      for (const role of roles) {
        const holder = await roleId(store, role);
        await updateRecord(master, '_Role', holder, {
          users: { __op: 'AddRelation', objects: [{ __type: 'Pointer', className: '_User', objectId: id }] },
        });
      }
      return caller(id);
    },
    async update(className, objectId, fields) {
      await updateRecord(master, className, objectId, fields);
    },
    remove: (className, objectId) => deleteRecord(master, className, objectId, {}),
    async define(className, definition) {
      await updateSchema(master, className, definition);
    },
  };
}

async function roleId(store: Store, name: string): Promise<string> {
  const row = await readFirst<{ objectId: string }>(store, {
    className: '_Role',
    field: 'name',
    value: name,
    fields: ['objectId'],
  });
  return row?.objectId ?? assert.fail(`there is no role ${name}`);
}

/** Returns the endpoint that a path leads to, and its parameters, as the router does. */
function routed(address: string): { endpoint: ApiEndpoint; params: Record<string, string> } {
  const [method, path = ''] = address.split(' ');
  const parts = path.split('/').map(decodeURIComponent);
  for (const endpoint of dataEndpoints) {
    const names = endpoint.path.split('/');
    if (endpoint.method !== method || names.length !== parts.length) continue;
    if (!names.every((name, at) => name.startsWith(':') || name === parts[at])) continue;
    const params = names.flatMap((name, at): [string, string][] =>
      name.startsWith(':') ? [[name.slice(1), parts[at] ?? '']] : [],
    );
    return { endpoint, params: Object.fromEntries(params) };
  }
  return assert.fail(`no endpoint ${address}`);
}
