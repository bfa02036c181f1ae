import pg from 'pg';
import type { StoredValue } from '../../../values/types/type.ts';
import { TooLong } from '../../sql/reads/read-plan.ts';
import type { Result, Row } from './database.ts';
import { bindParams, parserOf } from './wire-values.ts';

/*
 * All that is used of the driver beside its documented interface is in this file: the `handle…` members that it calls, the number of the server
 * process, and the statements that it remembers as prepared. Its version is pinned (docs/adr/0007-postgresql-driver.md).
 */

/** Result of a statement, with the command tag that PostgreSQL returned. */
export interface Answer extends Result {
  readonly command: string;
}

interface Settle {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

/** How a statement's rows are delivered. By default they are collected for its answer. */
export interface RowOptions {
  /** Maximum number of bytes to collect; fails with TooLong if there are more. */
  readonly maxBytes?: number;
  /** Called with each row as it arrives, instead of collecting it. */
  readonly each?: (row: Row, bytes: number) => void;
}

/**
 * A statement submitted to the driver, which passes on the protocol messages of its answer. Rows are built here, because the driver would first
 * create an object for each row.
 */
export class Request extends pg.Query {
  /** Name of the prepared statement; `undefined` if it is not kept. */
  readonly name: string | undefined;
  readonly #settle: Settle;
  readonly #maxBytes: number;
  readonly #each: RowOptions['each'];
  #bytes = 0;
  #parsers: ((text: string) => unknown)[] = [];
  #found: Row[] = [];
  #tag = '';

  /** Whether rows have begun to arrive, so that the next message belongs to this statement. */
  isAnswering = false;

  constructor(text: string, params: readonly StoredValue[], name: string | undefined, settle: Settle, options: RowOptions = {}) {
    super(text, bindParams(text, params));
    this.name = name;
    this.#settle = settle;
    this.#maxBytes = options.maxBytes ?? Number.POSITIVE_INFINITY;
    this.#each = options.each;
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly dataTypeID: number }[] }): void {
    this.#parsers = fields.map(({ dataTypeID }) => parserOf(dataTypeID));
    this.#found = [];
    this.isAnswering = true;
  }

  handleDataRow({ fields, length }: { readonly fields: readonly (string | null)[]; readonly length: number }): void {
    this.#bytes += length;
    if (this.#bytes > this.#maxBytes) {
      this.#found = [];
      return;
    }
    const parsers = this.#parsers;
    const row = new Array<unknown>(fields.length);
    for (let at = 0; at < fields.length; at++) {
      const text = fields[at] as string | null;
      row[at] = text === null ? null : (parsers[at] as (text: string) => unknown)(text);
    }
    if (this.#each) this.#each(row, length);
    else this.#found.push(row);
  }

  /** Whether the statement has completed, although the server may not be ready for the next one yet. */
  get isDone(): boolean {
    return this.#tag !== '';
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.isAnswering = false;
    this.#tag = text;
  }

  handleError(error: Error): void {
    this.#settle.reject(error);
  }

  handleReadyForQuery(): void {
    if (this.#bytes > this.#maxBytes) {
      this.#settle.reject(new TooLong());
      return;
    }
    const tag = this.#tag;
    const space = tag.lastIndexOf(' ');
    const affected = space < 0 ? 0 : Number(tag.slice(space + 1)) || 0;
    this.#settle.resolve({ rows: this.#found, affected, command: tag });
  }
}

/** Deallocates a prepared statement, in order with other requests. Uses the protocol's Close message, which cannot fail. */
export class Deallocation extends pg.Query {
  override submit: (connection: pg.Connection) => null;
  readonly handleError: () => void;
  readonly handleReadyForQuery: () => void;

  /** @param done called when it is answered or the connection is lost */
  constructor(name: string, done: () => void) {
    super('');
    this.submit = (connection) => {
      connection.close({ type: 'S', name }, true);
      connection.sync();
      return null;
    };
    this.handleError = done;
    this.handleReadyForQuery = done;
  }
}

/** Returns the process id of the server as the connection reports it. */
export const serverProcessOf = (client: pg.Client): number => (client as pg.Client & { readonly processID: number }).processID;

/** Makes the driver prepare the named statement again when it is next sent. */
export function forgetStatement({ connection }: pg.Client, name: string): void {
  delete (connection as pg.Connection & { readonly parsedStatements: Record<string, string> }).parsedStatements[name];
}
