import pg from 'pg';
import type { StoredValue } from '../../../values/types/type.ts';
import { NotShort } from '../../sql/reads/read-plan.ts';
import type { Result, Row } from './database.ts';
import { boundFor, parserOf } from './wire-values.ts';

/*
 * All that is used of the driver beside its documented interface is in this file: the `handle…` members that it calls, the number of the server
 * process, and the statements that it remembers as prepared. Its version is pinned (docs/adr/0007-postgresql-driver.md).
 */

/** What comes of a statement, with the command that PostgreSQL says it was. */
export interface Answer extends Result {
  readonly command: string;
}

interface Settle {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

/** What becomes of a statement's rows. They are kept for its answer, unless they are taken one by one. */
export interface RowsTaken {
  /** Bytes that are kept; NotShort where there are more. */
  readonly mostBytes?: number;
  /** Called with each row as it comes. */
  readonly each?: (row: Row, bytes: number) => void;
}

/**
 * A statement on its way through the driver, which hands over the messages that answer it. Rows are made of them here: the driver's own
 * way makes an object of each row's columns first.
 */
export class Request extends pg.Query {
  /** Of the prepared statement; `undefined` where it is not kept. */
  readonly name: string | undefined;
  readonly #settle: Settle;
  readonly #mostBytes: number;
  readonly #each: RowsTaken['each'];
  #bytes = 0;
  #parsers: ((text: string) => unknown)[] = [];
  #found: Row[] = [];
  #tag = '';

  /** Whether rows have come, so that what comes next is about this statement. */
  isAnswering = false;

  constructor(text: string, params: readonly StoredValue[], name: string | undefined, settle: Settle, taken: RowsTaken = {}) {
    super(text, boundFor(text, params));
    this.name = name;
    this.#settle = settle;
    this.#mostBytes = taken.mostBytes ?? Number.POSITIVE_INFINITY;
    this.#each = taken.each;
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly dataTypeID: number }[] }): void {
    this.#parsers = fields.map(({ dataTypeID }) => parserOf(dataTypeID));
    this.#found = [];
    this.isAnswering = true;
  }

  handleDataRow({ fields, length }: { readonly fields: readonly (string | null)[]; readonly length: number }): void {
    this.#bytes += length;
    if (this.#bytes > this.#mostBytes) {
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

  /** Whether the statement was done, though the session may not have said yet that it is ready for another. */
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
    if (this.#bytes > this.#mostBytes) {
      this.#settle.reject(new NotShort());
      return;
    }
    const tag = this.#tag;
    const space = tag.lastIndexOf(' ');
    const affected = space < 0 ? 0 : Number(tag.slice(space + 1)) || 0;
    this.#settle.resolve({ rows: this.#found, affected, command: tag });
  }
}

/** Has the server forget a prepared statement, in its turn. Done by the protocol's own message, which cannot fail. */
export class Deallocation extends pg.Query {
  override submit: (connection: pg.Connection) => null;
  readonly handleError: () => void;
  readonly handleReadyForQuery: () => void;

  /** @param done called when it is answered, or never will be */
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

/** The server process as the connection names it. */
export const serverProcessOf = (client: pg.Client): number => (client as pg.Client & { readonly processID: number }).processID;

/** Has the driver prepare a statement of a name anew when it is sent again. */
export function forgetStatement({ connection }: pg.Client, name: string): void {
  delete (connection as pg.Connection & { readonly parsedStatements: Record<string, string> }).parsedStatements[name];
}
