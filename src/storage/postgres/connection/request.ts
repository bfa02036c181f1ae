import pg from 'pg';
import { TooLong } from '../../sql/reads/read-plan.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import type { Result, Row } from './database.ts';
import type { Prepared } from './prepared-statements.ts';
import { bindParams, type Parse, parserOf } from './wire-values.ts';

/*
 * All that is used of the driver beside its documented interface is in this file and in row-parser.ts: the `handle…` members that it calls, the
 * number of the server process, the messages that it sends, and the statements that it remembers as prepared. Its version is pinned
 * (docs/adr/0007-postgresql-driver.md).
 */

/** Result of a statement, with the command tag that PostgreSQL returned. */
export interface Answer extends Result {
  readonly command: string;
}

interface Settle {
  resolve(): void;
  reject(error: Error): void;
}

/** A statement, and its prepared form if it has one. */
export interface Sendable extends Statement {
  readonly prepared: Prepared | undefined;
}

/** How a statement's rows are delivered. By default they are collected for its answer. */
export interface RowOptions {
  /** Maximum number of bytes to collect; fails with TooLong if there are more. */
  readonly maxBytes?: number;
  /** Called with each row as it arrives, instead of collecting it. */
  readonly each?: (row: Row, bytes: number) => void;
}

/** The driver's record of the named statements that a connection has parsed, or been sent. */
interface DriverConnection extends pg.Connection {
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
}

/**
 * Statements submitted to the driver with one Sync at their end, which passes on the protocol messages of their answers. Several are one implicit
 * transaction: PostgreSQL commits at the Sync, and skips those after a failed one. Rows are built here, because the driver would first create an
 * object for each row.
 */
export class Request extends pg.Query {
  override submit: (connection: pg.Connection) => null;
  /** Name and text of the statement that is being answered, by which the driver records what has been parsed. */
  name: string | undefined;
  text = '';
  readonly #statements: readonly Sendable[];
  readonly #settle: Settle;
  readonly #maxBytes: number;
  readonly #each: RowOptions['each'];
  #bytes = 0;
  #parsers: readonly Parse[] = [];
  #rows: Row[] = [];

  /** Answers of the statements that have completed, although the server may not be ready for the next ones yet. */
  readonly answers: Answer[] = [];

  constructor(statements: readonly Sendable[], settle: Settle, { maxBytes, each }: RowOptions) {
    super('');
    this.#statements = statements;
    this.#settle = settle;
    this.#maxBytes = maxBytes ?? Number.POSITIVE_INFINITY;
    this.#each = each;
    this.submit = (connection) => {
      this.#send(connection as DriverConnection);
      return null;
    };
    this.#expectNext();
  }

  /** The statement that is being answered; `undefined` once all are done. */
  get current(): Sendable | undefined {
    return this.#statements[this.answers.length];
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly dataTypeID: number }[] }): void {
    this.#parsers = fields.map(({ dataTypeID }) => parserOf(dataTypeID));
    this.#rows = [];
  }

  handleDataRow({ fields, length }: { readonly fields: readonly (string | null)[]; readonly length: number }): void {
    this.#bytes += length;
    if (this.#bytes > this.#maxBytes) {
      this.#rows = [];
      return;
    }
    const parsers = this.#parsers;
    const row = new Array<unknown>(fields.length);
    for (let at = 0; at < fields.length; at++) {
      const text = fields[at] as string | null;
      row[at] = text === null ? null : (parsers[at] as Parse)(text);
    }
    if (this.#each) this.#each(row, length);
    else this.#rows.push(row);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const prepared = this.current?.prepared;
    if (prepared) prepared.parsers = this.#parsers;
    const space = text.lastIndexOf(' ');
    const affected = space < 0 ? 0 : Number(text.slice(space + 1)) || 0;
    this.answers.push({ rows: this.#rows, affected, command: text });
    this.#expectNext();
  }

  handleError(error: Error, connection: pg.Connection): void {
    // The statements after a failed one were not even parsed.
    const { submittedNamedStatements } = connection as DriverConnection;
    for (const { prepared } of this.#statements.slice(this.answers.length))
      if (prepared) delete submittedNamedStatements[prepared.name];
    this.#settle.reject(error);
  }

  handleReadyForQuery(): void {
    if (this.#bytes > this.#maxBytes) this.#settle.reject(new TooLong());
    else this.#settle.resolve();
  }

  #send(connection: DriverConnection): void {
    const [first, ...others] = this.#statements;
    if (first && others.length === 0 && !first.prepared && first.params.length === 0) {
      connection.query(first.text);
      return;
    }
    for (const statement of this.#statements) sendStatement(connection, statement);
    connection.sync();
  }

  #expectNext(): void {
    const next = this.current;
    this.name = next?.prepared?.name;
    this.text = next?.text ?? '';
    this.#parsers = next?.prepared?.parsers ?? [];
    this.#rows = [];
  }
}

/** Sends one statement without a Sync. What a prepared statement returns is described once: if it changes, PostgreSQL refuses the statement. */
function sendStatement(connection: DriverConnection, { text, params, prepared }: Sendable): void {
  const name = prepared?.name ?? '';
  const { parsedStatements, submittedNamedStatements } = connection;
  if (!prepared || (parsedStatements[name] === undefined && submittedNamedStatements[name] === undefined)) {
    connection.parse({ name, text, types: [] }, true);
    if (prepared) submittedNamedStatements[name] = text;
  }
  connection.bind({ statement: name, values: bindParams(text, params) }, true);
  if (!prepared?.parsers) connection.describe({ type: 'P' }, true);
  connection.execute({}, true);
}

/** Deallocates a prepared statement, in order with other requests. Uses the protocol's Close message, which cannot fail. */
export class Deallocation extends pg.Query {
  override submit: (connection: pg.Connection) => null;
  readonly handleError: () => void;
  readonly handleReadyForQuery: () => void;

  /** @param done called when it is answered or the connection is lost */
  constructor(name: string, done: () => void) {
    super('');
    let usedConnection: DriverConnection | undefined;
    this.submit = (connection) => {
      usedConnection = connection as DriverConnection;
      connection.close({ type: 'S', name }, true);
      connection.sync();
      return null;
    };
    this.handleReadyForQuery = () => {
      delete usedConnection?.parsedStatements[name];
      done();
    };
    this.handleError = this.handleReadyForQuery;
  }
}

/** Returns the process id of the server as the connection reports it. */
export const serverProcessOf = (client: pg.Client): number => (client as pg.Client & { readonly processID: number }).processID;
