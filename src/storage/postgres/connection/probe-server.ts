import { OperatorError } from '../../../kernel/operator-error.ts';
import { decoded } from './client-config.ts';
import { type Address, newClient } from './connect.ts';
import { PipelinedConnection } from './pipelined-connection.ts';

/** Version, encoding, process id, `transaction_read_only`, and 1 or 0: the extension Citus is loaded, this database has its tables. */
type ServerFacts = [number, string, number, string, number, number];

/** The group of a node in a Citus cluster; the coordinator's is 0. */
const LOCAL_GROUP = 'SELECT groupid FROM pg_catalog.pg_dist_local_group';
const COORDINATOR_GROUP = 0;

/** PostgreSQL 14, the oldest supported version. */
const MIN_VERSION = 140_000;

/**
 * Opens a first connection, checks version, encoding and writability, and detects a pooler and the coordinator of a cluster.
 * @param name `application_name` of the sessions
 * @throws OperatorError, one line without secrets
 */
export async function probeServer(url: string, name?: string): Promise<Address> {
  try {
    return await checkServer({ url, pooled: false, isCoordinator: false, name });
  } catch (error) {
    if (error instanceof OperatorError || !isRefusedParameter(error)) throw explain(url, error);
  }
  try {
    return await checkServer({ url, pooled: true, isCoordinator: false, name });
  } catch (error) {
    throw explain(url, error);
  }
}

/** Whether pgbouncer refused session parameters, which it does not keep. */
function isRefusedParameter(error: unknown): boolean {
  return error instanceof Error && /unsupported startup parameter/.test(error.message);
}

async function checkServer(address: Address): Promise<Address> {
  const client = newClient(address, { statement: 10_000, lock: 10_000 });
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    client.connection.stream.destroy();
    throw error;
  }
  const link = new PipelinedConnection(client, { texts: null, answerTimeoutMs: 10_000 });
  try {
    const text = `SELECT current_setting('server_version_num')::int, current_setting('server_encoding'), pg_backend_pid(),
      current_setting('transaction_read_only'), current_setting('citus.version', true) IS NOT NULL,
      to_regclass('pg_catalog.pg_dist_local_group') IS NOT NULL`;
    const [version, encoding, processId, readOnly, hasCitus, hasNodes] = (await link.command(text)).rows[0] as ServerFacts;
    if (version < MIN_VERSION)
      throw new OperatorError(`DATABASE_URL: PostgreSQL 14 or newer is needed, this one is ${named(version)}.`);
    if (encoding !== 'UTF8')
      throw new OperatorError(`DATABASE_URL: the encoding of the database must be UTF8, it is ${encoding}.`);
    if (readOnly === 'on')
      throw new OperatorError('DATABASE_URL: PostgreSQL takes no writes there: it is a standby, or read-only.');
    if (hasNodes && (await link.command(LOCAL_GROUP)).rows[0]?.[0] !== COORDINATOR_GROUP)
      throw new OperatorError('DATABASE_URL: this is a worker node of a cluster: connect to its coordinator.');
    // Poolers invent process ids.
    return { ...address, pooled: address.pooled || processId !== link.processId, isCoordinator: hasCitus === 1 };
  } finally {
    await link.end();
  }
}

function named(version: number): string {
  return version >= 100_000 ? `${Math.floor(version / 10_000)}.${version % 10_000}` : 'older than 10';
}

/** OpenSSL error codes of untrusted certificates. */
const UNTRUSTED = /^(?:DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|CERT_)/;

function explain(url: string, error: unknown): OperatorError {
  if (error instanceof OperatorError) return error;
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  const said = typeof message === 'string' ? (message.split('\n')[0] ?? '') : '';
  const { where, user, database } = partsOf(url);
  const line = (what: string) => new OperatorError(`DATABASE_URL: PostgreSQL at ${where} ${what}.`);
  switch (code) {
    case '28000':
      if (/no encryption/.test(said)) return line(`refuses the user ${user} without encryption: set sslmode`);
      return line(`refuses the user ${user}`);
    case '28P01':
      return line(`refuses the user ${user}`);
    case '3D000':
      return line(`has no database ${database}`);
    case '57P03':
      return line('takes no connections now: it is starting or stopping');
    case '53300':
      return line('has no connection left');
  }
  if (typeof code !== 'string') return line(`cannot be reached (${said || 'no answer'})`);
  if (UNTRUSTED.test(code))
    return line(`has a certificate that is not trusted (${code}): sslrootcert names a file with its authority`);
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return line('has a certificate for another host name');
  // SQLSTATE of the server or a pooler.
  if (/^(?=.*\d)[0-9A-Z]{5}$/.test(code)) return line(`refuses the connection (${code} ${said})`);
  return line(`cannot be reached (${code})`);
}

/** Parts of the URL that contain no secrets. */
function partsOf(url: string): { where: string; user: string; database: string } {
  const parsed = URL.parse(url);
  const given = (name: string, text = '') => parsed?.searchParams.get(name) ?? decoded(text);
  return {
    where: parsed?.host || parsed?.searchParams.get('host') || 'localhost',
    user: JSON.stringify(given('user', parsed?.username)),
    database: JSON.stringify(given('dbname', parsed?.pathname.slice(1))),
  };
}
