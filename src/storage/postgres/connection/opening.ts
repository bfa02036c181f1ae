import { OperatorError } from '../../../kernel/operator-error.ts';
import { type Address, newClient } from './dial.ts';
import { Link } from './link.ts';

/** PostgreSQL 14: the oldest version that is served. */
const OLDEST_VERSION = 140_000;

/**
 * The first connection: says whether all is as it must be, and what stands between.
 * @throws OperatorError, one line without secrets
 */
export async function explore(url: string): Promise<Address> {
  try {
    return await visit({ url, pooled: false });
  } catch (error) {
    if (error instanceof OperatorError || !isRefusedParameter(error)) throw explained(url, error);
  }
  try {
    return await visit({ url, pooled: true });
  } catch (error) {
    throw explained(url, error);
  }
}

/** How pgbouncer answers to parameters of the session that it does not keep. */
function isRefusedParameter(error: unknown): boolean {
  return error instanceof Error && /unsupported startup parameter/.test(error.message);
}

async function visit(address: Address): Promise<Address> {
  const client = newClient(address, { statement: 10_000, lock: 10_000 });
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    client.connection.stream.destroy();
    throw error;
  }
  const link = new Link(client, { texts: null, patience: 10_000 });
  try {
    const text = `SELECT current_setting('server_version_num')::int, current_setting('server_encoding'), pg_backend_pid()`;
    const [version, encoding, processId] = (await link.command(text)).rows[0] as [number, string, number];
    if (version < OLDEST_VERSION)
      throw new OperatorError(`DATABASE_URL: PostgreSQL 14 or newer is needed, this one is ${named(version)}.`);
    if (encoding !== 'UTF8')
      throw new OperatorError(`DATABASE_URL: the encoding of the database must be UTF8, it is ${encoding}.`);
    // Poolers make up the numbers of processes.
    return { ...address, pooled: address.pooled || processId !== link.processId };
  } finally {
    await link.end();
  }
}

function named(version: number): string {
  return version >= 100_000 ? `${Math.floor(version / 10_000)}.${version % 10_000}` : 'older than 10';
}

function explained(url: string, error: unknown): OperatorError {
  if (error instanceof OperatorError) return error;
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  const { where, user, database } = partsOf(url);
  switch (code) {
    case '28P01':
    case '28000':
      return new OperatorError(`DATABASE_URL: PostgreSQL at ${where} refuses the user ${user}.`);
    case '3D000':
      return new OperatorError(`DATABASE_URL: PostgreSQL at ${where} has no database ${database}.`);
    case '57P03':
      return new OperatorError(`DATABASE_URL: PostgreSQL at ${where} takes no connections now: it is starting or stopping.`);
    case '53300':
      return new OperatorError(`DATABASE_URL: PostgreSQL at ${where} has no connection left.`);
  }
  const why = code ?? (typeof message === 'string' ? message.split('\n')[0] : undefined) ?? 'no answer';
  return new OperatorError(`DATABASE_URL: PostgreSQL at ${where} cannot be reached (${why}).`);
}

/** What of the URL may be shown. */
function partsOf(url: string): { where: string; user: string; database: string } {
  const parsed = URL.parse(url);
  return {
    where: parsed?.host || parsed?.searchParams.get('host') || 'localhost',
    user: JSON.stringify(decoded(parsed?.username ?? '')),
    database: JSON.stringify(decoded(parsed?.pathname.slice(1) ?? '')),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
