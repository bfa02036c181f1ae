import { actorId, type Principal } from '../access/index.ts';
import { truncate, withoutCredentials, withoutSecrets } from '../kernel/header-text.ts';
import type { Schema } from '../schema/model.ts';
import type { Store, WritePlan } from '../storage/port.ts';
import type { StoredValue } from '../values/index.ts';
import { logTableOf } from './log-table.ts';
import { type Column, ownColumns, ownValues } from './timeline.ts';

/** A request that has been answered. */
export interface LoggedRequest {
  readonly method: string;
  /** As it was sent; the log omits the query string. */
  readonly url: string;
  readonly ip: string;
  /** Two letters; `undefined` if no trusted proxy named one. */
  readonly country: string | undefined;
  readonly referer: string | undefined;
  readonly userAgent: string | undefined;
  readonly installationId: string | undefined;
  /** Credentials sent with the request, to be removed from the row. */
  readonly credentials: readonly string[];
  /** `null` if the row must name no user. */
  readonly principal: Principal | null;
  readonly statusCode: number;
  /** Bytes of the request's body. */
  readonly contentLength: number;
  /** Milliseconds. */
  readonly duration: number;
  /** The part of the service that was called: data endpoints and functions, agent tools, or the console. */
  readonly service?: 'platform' | 'mcp' | 'console';
}

const className = '_RequestLog';

/** Maximum length of what a row keeps of a client's text, in characters. */
const maxLengths = { path: 1_000, referer: 1_000, userAgent: 500, installationId: 256, other: 100 } as const;

/** The server accepts no longer address. */
const MAX_URL_LENGTH = 64 * 1024;

/** The columns of a row, in the order of its values. Fixed, so that one statement serves all rows. */
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
  ['keyName', 'String'],
];

const logOf = logTableOf(className, columns);

/**
 * Adds a row to `_RequestLog` asynchronously; the caller does not wait for it. If the table lacks one of the columns, nothing is logged.
 * Reference: audit.md#request-log.
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
  const clean = (text: string, length: number) => truncate(withoutCredentials(text, credentials), length);
  const user = principal && actorId(principal);
  const query = url.indexOf('?');
  return [
    ...ownValues(at),
    clean(withoutSecrets(truncate(url, MAX_URL_LENGTH, query < 0 ? url.length : query)), maxLengths.path),
    request.method,
    truncate(request.ip, maxLengths.other),
    country === undefined ? null : truncate(country, maxLengths.other),
    referer === undefined ? null : clean(withoutSecrets(referer), maxLengths.referer),
    userAgent === undefined ? null : clean(userAgent, maxLengths.userAgent),
    user,
    user === 'master',
    false,
    isLoopback(request.ip),
    Math.round(request.duration),
    request.statusCode,
    request.contentLength,
    service,
    0,
    installationId === undefined ? null : clean(installationId, maxLengths.installationId),
    principal?.kind === 'apiKey' ? principal.name : null,
  ];
}

/** Whether the request came from this machine. */
function isLoopback(ip: string): boolean {
  return ip === '::1' || ip.startsWith('127.') || ip.startsWith('::ffff:127.');
}
