import { isHidden, isWatched } from '../../../schema/system-tables.ts';

/** Milliseconds for which writes are collected, so that one statement announces them all. */
const DELAY_MS = 500;
/** Maximum number of tables in one notification; PostgreSQL limits its payload to 8,000 bytes. */
const MAX_TABLES = 40;

/**
 * Announces writes to tables that are not watched, after a delay. Their commits carry no notification of their own, because each NOTIFY takes a
 * lock on the server that all commits with notifications share. Writes to hidden tables are never announced.
 */
export class DelayedInvalidations {
  readonly #send: (tables: readonly string[]) => Promise<unknown>;
  readonly #tables = new Set<string>();
  /** Tables whose announcement is repeated until it is sent. */
  readonly #certain = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  /** @param send rejections are ignored, except for writes in doubt: a process that loses notifications checks everything it knows */
  constructor(send: (tables: readonly string[]) => Promise<unknown>) {
    this.#send = send;
  }

  /**
   * Records that these tables were written to.
   * @param isInDoubt whether the commit's own notification of watched tables may be lost although the write is not: a coordinator commits on the
   * node first
   */
  add(tables: Iterable<string>, isInDoubt = false): void {
    for (const table of tables)
      if (!isHidden(table) && !isWatched(table)) this.#tables.add(table);
      else if (isInDoubt && isWatched(table)) this.#certain.add(table);
    if (this.#tables.size + this.#certain.size > 0) this.#timer ??= setTimeout(() => this.flush(), DELAY_MS).unref();
  }

  /** Sends the collected tables now. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const certain = [...this.#certain];
    this.#certain.clear();
    if (certain.length > 0) this.#send(certain).catch(() => this.add(certain, true));
    if (this.#tables.size === 0) return;
    const tables = [...this.#tables];
    this.#tables.clear();
    for (let at = 0; at < tables.length; at += MAX_TABLES) this.#send(tables.slice(at, at + MAX_TABLES)).catch(() => {});
  }
}
