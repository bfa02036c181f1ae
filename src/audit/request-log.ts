import { isPassing } from '../errors/fail.ts';
import { truncate, withoutCredentials, withoutSecrets } from '../kernel/header-text.ts';
import { type CallObservation, type Conditions, faultPlace } from '../observe/index.ts';
import type { Schema } from '../schema/model.ts';
import { type Column, logTableOf, ownColumns, ownValues } from '../storage/log-table.ts';
import type { Store, WritePlan } from '../storage/port.ts';
import type { Systems } from '../systems/index.ts';
import type { StoredValue } from '../values/index.ts';

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
 * Returns the observer that adds a row to `_RequestLog` for each request of a caller. Its failure does not reach the caller.
 * @param systems finds the system, which the request still holds
 */
export function requestLog(
  systems: Pick<Systems, 'heldSystem'>,
  conditions: Pick<Conditions, 'met'>,
): (call: CallObservation) => void {
  return (call) => {
    try {
      const system = systems.heldSystem(call.system);
      if (system) logRequest(system.store, call);
    } catch (error) {
      // Storage outages are reported by the code that meets them.
      if (!isPassing(error)) conditions.met('a request was not logged', faultPlace(error), error);
    }
  };
}

/**
 * Adds a row to `_RequestLog` asynchronously; the caller does not wait for it. If the table lacks one of the columns, nothing is logged.
 * Reference: audit.md#request-log.
 */
export function logRequest(store: Store, request: CallObservation): void {
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
function valuesOf(request: CallObservation, at: number): readonly StoredValue[] {
  const { user, url, country, referer, userAgent, installationId, credentials, service = 'platform' } = request;
  const clean = (text: string, length: number) => truncate(withoutCredentials(text, credentials), length);
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
    Math.round(request.ms),
    request.status,
    request.bytes,
    service,
    0,
    installationId === undefined ? null : clean(installationId, maxLengths.installationId),
    request.keyName,
  ];
}

/** Whether the request came from this machine. */
function isLoopback(ip: string): boolean {
  return ip === '::1' || ip.startsWith('127.') || ip.startsWith('::ffff:127.');
}
