import { readFileSync } from 'node:fs';
import type pg from 'pg';
import { OperatorError } from '../../../kernel/operator-error.ts';

/** Parameters of the URL that are passed to the driver unchanged. */
const passedThrough = ['application_name', 'options', 'sslnegotiation'] as const;

/**
 * Builds the driver's connection settings from a URL. The driver's own URL parser leaves `%2F` in database names, prints TLS warnings to standard
 * error, and gives `require` and `verify-ca` other meanings than PostgreSQL's own programs do.
 * @param url `postgres://user:password@host:port/database?sslmode=…`; host, port, user, password and dbname may be parameters instead
 * @throws OperatorError for invalid parameters and unreadable files
 */
export function clientConfig(url: string): pg.ClientConfig {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const given = (name: string, text: string) => searchParams.get(name) ?? decoded(text);
  const parts = {
    host: given('host', hostname.replace(/^\[(.*)\]$/, '$1')),
    user: given('user', username),
    password: given('password', password),
    database: given('dbname', pathname.slice(1)),
  };
  const ssl = tlsOf(searchParams);
  const config: Record<string, unknown> = ssl === undefined ? {} : { ssl };
  // The driver takes missing parts from PGHOST and related variables.
  for (const [name, text] of Object.entries(parts)) if (text !== '') config[name] = text;
  const at = given('port', port);
  if (at !== '') config.port = portOf(at);
  for (const name of passedThrough) if (searchParams.has(name)) config[name] = searchParams.get(name);
  return config;
}

/** Decodes percent-encoding; returns the text unchanged if it is not validly encoded. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function portOf(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new OperatorError('DATABASE_URL: the port must be a number.');
  return Number(text);
}

/** Interprets the TLS parameters as PostgreSQL's own programs do; `undefined` if there are none. */
function tlsOf(params: URLSearchParams): pg.ClientConfig['ssl'] {
  const mode = modeOf(params);
  if (mode === undefined || mode === 'disable') return mode === undefined ? undefined : false;
  const root = params.get('sslrootcert');
  const ca = root === 'system' ? undefined : fileOf(params, 'sslrootcert');
  const own = { cert: fileOf(params, 'sslcert'), key: fileOf(params, 'sslkey'), ca };
  const files = Object.fromEntries(Object.entries(own).filter(([, file]) => file !== undefined));
  if (mode === 'verify-full' || root === 'system') return files;
  if (ca !== undefined) return { ...files, checkServerIdentity: () => undefined };
  if (mode === 'verify-ca') throw new OperatorError('DATABASE_URL: sslmode=verify-ca needs sslrootcert, a file.');
  return { ...files, rejectUnauthorized: false };
}

type Mode = 'disable' | 'require' | 'verify-ca' | 'verify-full';

function modeOf(params: URLSearchParams): Mode | undefined {
  const mode = params.get('sslmode');
  switch (mode) {
    case 'disable':
    case 'require':
    case 'verify-ca':
    case 'verify-full':
      return mode;
    case 'no-verify':
      return 'require';
    case null: {
      const isOn = params.get('ssl');
      if (isOn === null) return undefined;
      return isOn === 'true' || isOn === '1' ? 'verify-full' : 'disable';
    }
    default:
      throw new OperatorError('DATABASE_URL: sslmode must be disable, require, verify-ca or verify-full.');
  }
}

function fileOf(params: URLSearchParams, name: string): string | undefined {
  const path = params.get(name);
  if (path === null) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as { readonly code?: string };
    throw new OperatorError(`DATABASE_URL: ${name}: ${JSON.stringify(path)} cannot be read (${code}).`);
  }
}
