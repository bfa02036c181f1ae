import { isHidden, isWatched } from '../../../schema/system-tables.ts';

/** How long notices are gathered, in milliseconds: one statement tells of all writes of that time. */
const DELAY_MS = 500;
/** Names of one notice: it has 8,000 bytes. */
const MAX_TABLES = 40;

/**
 * Tells the other processes of writes to tables that are not watched, some time after them: their own commits do not carry a notice, for each
 * has the server lock what all notices share. Nobody hears of hidden tables.
 */
export class LateNotices {
  readonly #send: (tables: readonly string[]) => Promise<unknown>;
  readonly #tables = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  /** @param send a rejection of it is passed over: who loses notices distrusts all that it knows */
  constructor(send: (tables: readonly string[]) => Promise<unknown>) {
    this.#send = send;
  }

  /** These tables were written to. */
  add(tables: Iterable<string>): void {
    for (const table of tables) if (!isWatched(table) && !isHidden(table)) this.#tables.add(table);
    if (this.#tables.size > 0) this.#timer ??= setTimeout(() => this.flush(), DELAY_MS).unref();
  }

  /** Tells now. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#tables.size === 0) return;
    const tables = [...this.#tables];
    this.#tables.clear();
    for (let at = 0; at < tables.length; at += MAX_TABLES) this.#send(tables.slice(at, at + MAX_TABLES)).catch(() => {});
  }
}
