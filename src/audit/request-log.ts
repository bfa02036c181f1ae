import { actorId, type Principal } from '../access/index.ts';
import type { Schema } from '../schema/model.ts';
import type { Store, WritePlan } from '../storage/port.ts';
import type { StoredValue } from '../values/index.ts';
import { bounded, withoutCredentials, withoutSecrets } from './header-text.ts';
import { logTableOf } from './log-table.ts';
import { type Column, ownColumns, ownValues } from './timeline.ts';

/** A request that has its answer. */
export interface LoggedRequest {
  readonly method: string;
  /** As it was sent; the log leaves the query out. */
  readonly url: string;
  readonly ip: string;
  /** Two letters; `undefined` where nobody said. */
  readonly country: string | undefined;
  readonly referer: string | undefined;
  readonly userAgent: string | undefined;
  readonly installationId: string | undefined;
  /** Credentials that came with it, to be kept out of the row. */
  readonly credentials: readonly string[];
  /** `null` where the row is to name nobody. */
  readonly principal: Principal | null;
  readonly statusCode: number;
  /** Bytes of the request's body. */
  readonly contentLength: number;
  /** Milliseconds. */
  readonly duration: number;
  /** What was asked: the data endpoints and functions, the agent tools, or the console. */
  readonly service?: 'platform' | 'mcp' | 'console';
}

const className = '_RequestLog';

/** Characters that a row keeps of what a client sent. */
const most = { path: 1_000, referer: 1_000, userAgent: 500, installationId: 256, other: 100 } as const;

/** The server takes no longer address. */
const MAX_URL_LENGTH = 64 * 1024;

/** The columns of a row, in the order of its values: one statement for all rows. */
const columns: readonly Column[] = [
  ...ownColumns,
  ['path', 'String'],
  ['method', 'String'],
  ['ip', 'String'],
  ['country', 'String'],
  ['referer', 'String'],
  ['userAgent', 'String'],
  ['user', 'Pointer'],
  ['usingMK', 'Boolean'],
  ['internal', 'Boolean'],
  ['trustedIP', 'Boolean'],
  ['duration', 'Number'],
  ['statusCode', 'Number'],
  ['contentLength', 'Number'],
  ['service', 'String'],
  ['retries', 'Number'],
  ['installationId', 'String'],
];

/** The log of a schema. */
const logOf = logTableOf(className, columns);

/**
 * Adds a row to `_RequestLog`, soon (SPEC "Other system tables"; docs/decisions.md "Request log"). Nobody waits for it. A
 * system whose table has not all the columns keeps no log.
 */
export function logRequest(store: Store, request: LoggedRequest): void {
  if (!logOf(store.schema())) return;
  const values = valuesOf(request, Date.now());
  store.writeBehind({ plan: (schema) => planRow(schema, values) });
}

function planRow(schema: Schema, values: readonly StoredValue[]): WritePlan {
  const found = logOf(schema);
  if (!found) return { changes: [], mutations: [] };
  const { table, fields } = found;
  return {
    changes: [],
    mutations: [{ kind: 'insert', table, values: fields.map((field, at) => [field, values[at] as StoredValue] as const) }],
  };
}

/** In the order of `columns`. */
function valuesOf(request: LoggedRequest, at: number): readonly StoredValue[] {
  const { principal, url, country, referer, userAgent, installationId, credentials, service = 'platform' } = request;
  const clean = (text: string, length: number) => bounded(withoutCredentials(text, credentials), length);
  const user = principal && actorId(principal);
  const query = url.indexOf('?');
  return [
    ...ownValues(at),
    clean(withoutSecrets(bounded(url, MAX_URL_LENGTH, query < 0 ? url.length : query)), most.path),
    request.method,
    bounded(request.ip, most.other),
    country === undefined ? null : bounded(country, most.other),
    referer === undefined ? null : clean(withoutSecrets(referer), most.referer),
    userAgent === undefined ? null : clean(userAgent, most.userAgent),
    user,
    user === 'master',
    false,
    isLoopback(request.ip),
    Math.round(request.duration),
    request.statusCode,
    request.contentLength,
    service,
    0,
    installationId === undefined ? null : clean(installationId, most.installationId),
  ];
}

/** Whether a request came from the machine itself. */
function isLoopback(ip: string): boolean {
  return ip === '::1' || ip.startsWith('127.') || ip.startsWith('::ffff:127.');
}
