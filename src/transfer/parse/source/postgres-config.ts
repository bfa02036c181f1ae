import type pg from 'pg';
import { OperatorError } from '../../../kernel/operator-error.ts';

/** Timeout for connecting, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Returns the driver configuration for `postgres://user:password@host:port/database?sslmode=…`. Missing parts default to PGHOST, PGPASSWORD and so
 * on.
 * @throws OperatorError if the address cannot be parsed; the message omits it, since it may contain a password
 */
export function postgresConfig(address: string): pg.ClientConfig {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    throw new OperatorError('--from: this is no address of a database: postgres://user:password@host:port/database');
  }
  const { hostname, port, username, password, pathname, searchParams } = url;
  const parts = {
    host: searchParams.get('host') ?? hostname.replace(/^\[(.*)\]$/, '$1'),
    user: decoded(username),
    password: decoded(password),
    database: decoded(pathname.slice(1)),
  };
  const given = Object.fromEntries(Object.entries(parts).filter(([, text]) => text !== ''));
  const ssl = tlsOf(searchParams.get('sslmode') ?? (searchParams.get('ssl') === 'true' ? 'require' : null));
  const options = searchParams.get('options');
  return {
    ...given,
    ...(port !== '' && { port: Number(port) }),
    ...(ssl !== undefined && { ssl }),
    ...(options !== null && { options }),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'record-service migrate',
  };
}

function tlsOf(mode: string | null): pg.ClientConfig['ssl'] | undefined {
  switch (mode) {
    case null:
      return undefined;
    case 'disable':
      return false;
    case 'require':
    case 'no-verify':
      return { rejectUnauthorized: false };
    case 'verify-ca':
    case 'verify-full':
      return {};
    default:
      throw new OperatorError('--from: sslmode must be disable, require, verify-ca or verify-full');
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
