/** Records the statements that the engine sends to databases in the mode for a Citus cluster, as the driver writes them to the connection. */
import pg from 'pg';
import { sessionName } from '../../connection/connect.ts';
import { isClusterDatabase } from './cluster-mode.ts';

/** What is used of the driver's connection. */
interface Connection {
  startup(config: { readonly database?: string; readonly application_name?: string }): void;
  parse(message: { readonly text: string }): void;
  query(text: string): void;
}

/** A statement, and the database that it was sent to. */
export interface Sent {
  readonly text: string;
  readonly database: string;
}

/** Databases of connections whose statements are recorded. Sessions of tests have other names than those of the engine. */
const databases = new WeakMap<Connection, string>();

/** Passes on each statement that connections of this process send from now on; a prepared one, once for each connection. */
export function recordStatements(record: (sent: Sent) => void): void {
  const connection = (pg as unknown as { Connection: { prototype: Connection } }).Connection.prototype;
  const { startup, parse, query } = connection;
  const note = (from: Connection, text: string) => {
    const database = databases.get(from);
    if (database !== undefined) record({ text, database });
  };
  connection.startup = function (config) {
    const { database = '', application_name: name = '' } = config;
    if (name.startsWith(sessionName) && isClusterDatabase(database)) databases.set(this, database);
    startup.call(this, config);
  };
  connection.parse = function (message) {
    note(this, message.text);
    parse.call(this, message);
  };
  connection.query = function (text) {
    note(this, text);
    query.call(this, text);
  };
}

/** Names that say something about a statement: those of columns that all tables have, and of the engine's own tables. */
const TELLING = /^(?:_\w+|rds|rds_[a-z]+|objectId|createdAt|updatedAt|ACL|owner|member)$/;

/**
 * Returns a text that is the same for statements which differ only in names of tables and columns: each test has its own. Distinct names of a
 * statement stay distinct.
 * @param text with all names in double quotes, except those that no test chooses
 */
export function shapeOf(text: string): string {
  const names = new Map<string, string>();
  return text.replace(/'(?:[^']|'')*'|"((?:[^"]|"")+)"/g, (quoted, name?: string) => {
    if (name === undefined || TELLING.test(name)) return quoted;
    const known = names.get(name) ?? `n${names.size}`;
    names.set(name, known);
    return `"${known}"`;
  });
}
