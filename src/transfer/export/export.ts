import { insertAct, newAct } from '../../acts/index.ts';
import { LoopShare } from '../../admission/loop-share.ts';
import { actorOf } from '../../audit/index.ts';
import { isPassing, ServiceError } from '../../errors/fail.ts';
import type { FindOptions } from '../../query/index.ts';
import { findRecords, planRecords, type RecordContext, type Row } from '../../records/index.ts';
import { SortedIds } from '../../storage/sorted-ids.ts';
import { columnsOf, keysOf } from './columns.ts';
import { csvForm, type Form, jsonForm, ndjsonForm } from './forms.ts';
import type { ExportOptions } from './parameters.ts';
import { ByIds, ByPlace, type Source } from './sources.ts';

/** Target number of characters of a page, which is read and written in one turn of the event loop. */
const PAGE_LENGTH = 256 * 1024;
/** Maximum number of characters of a page, and of a page with one record. */
const MAX_PAGE_LENGTH = 4 * 1024 * 1024;
const MAX_RECORD_LENGTH = 64 * 1024 * 1024;
/** Pages above this length are not read ahead. */
const LONG_PAGE_LENGTH = 4 * PAGE_LENGTH;
/** Number of records of the first page, when their size is still unknown. */
const FIRST_PAGE_SIZE = 100;
/** Maximum growth of a page relative to the previous one; no growth after a page that took longer than `SLOW_PAGE_MS`. */
const GROWTH = 4;
const SLOW_PAGE_MS = 500;

/** Limits the time that all exports together spend per turn of the event loop, in milliseconds. */
const exporting = new LoopShare({ maxMsPerTurn: 1 });

/** The records of a table as text, in pages. Must be read to its end, or closed by `return`. */
export interface Export extends AsyncIterableIterator<string> {
  /** Number of records so far. */
  readonly count: number;
  /** Share of the table that has been read, from 0 to 1. */
  readonly share: number;
}

/**
 * Starts an export of the records that the caller may read. Reference: export.md#export-over-http. Errors of the request and of the first page are
 * thrown
 * here; later ones are thrown by the iterator.
 * @param context a read in progress is aborted by its `until`, and when the iterator is closed
 * @param admitted awaited before the first record is read, when the request has been validated
 * @throws classMissing (103), permissionDenied (119); errors of the options and of `admitted`
 */
export async function exportRecords(
  context: RecordContext,
  className: string,
  options: ExportOptions,
  admitted: () => Promise<unknown> = async () => {},
): Promise<Export> {
  const query = await planRecords(context, className, planOf(options));
  const { where, keys = [], include = [], order = [] } = options;
  const isCsv = options.format === 'csv';
  const columns = isCsv ? columnsOf(query, keys, include) : [];
  const form = isCsv ? csvForm(columns, options) : options.format === 'json' ? jsonForm() : ndjsonForm();
  await admitted();
  const left = new AbortController();
  const until = context.until ? AbortSignal.any([context.until, left.signal]) : left.signal;
  const request = {
    context: { ...context, until },
    className,
    options: { where, keys: isCsv ? keysOf(columns) : keys, include },
  };
  const ids = order.length > 0 ? await sortedIds(request.context, className, { where, order }, until) : null;
  const source = ids ? new ByIds(request, ids) : new ByPlace(request, await context.store.raw.lastPosition(query.table));
  const pieces = new ExportPieces(context.appId, source, form, async () => {
    left.abort();
    await ids?.close();
  });
  await pieces.begin();
  // Before the first record leaves: a client that breaks off has had it all the same.
  await recordExport(context, className, options).catch(async (error) => {
    if (isPassing(error)) return;
    await pieces.return?.();
    throw error;
  });
  return pieces;
}

/** Writes the act; while the system cannot be written, it can still be read. */
async function recordExport(context: RecordContext, className: string, { format, keys, where }: ExportOptions): Promise<void> {
  const after = { format, ...(keys && keys.length > 0 && { keys: [...keys] }), isFiltered: where !== undefined };
  const act = newAct({ act: 'export', subject: className, after }, actorOf(context));
  await context.store.write({ plan: (schema) => ({ changes: [], mutations: insertAct(schema, act) }) });
}

/** Options as getters, evaluated after the permission to read the table has been checked. */
const planOf = (options: ExportOptions): FindOptions => ({
  refuseUnknown: () => options.refuseUnknown?.(),
  get where() {
    return options.where;
  },
  get keys() {
    const { format, keys = [], include = [], bom: _bom, raw: _raw } = options;
    // An included column is exported whatever `keys` says.
    return format === 'csv' && keys.length > 0 ? [...new Set([...keys, ...include])] : keys;
  },
  get include() {
    return options.include;
  },
  get order() {
    return options.order;
  },
});

async function sortedIds(
  context: RecordContext,
  className: string,
  options: Pick<ExportOptions, 'where' | 'order'>,
  until: AbortSignal,
): Promise<SortedIds> {
  const all = { ...options, idsAlone: true, limit: Number.POSITIVE_INFINITY };
  return SortedIds.of((await findRecords(context, className, all)).results, until);
}

/** Reads a page while the previous one is written. Not a generator: `return` does not run the `finally` of a generator that has not started. */
class ExportPieces implements Export {
  count = 0;
  readonly #system: string;
  readonly #source: Source;
  readonly #form: Form;
  readonly #close: () => Promise<void>;
  #size = FIRST_PAGE_SIZE;
  /** Duration of the last read. */
  #tookMs = 0;
  #page: Promise<readonly Row[] | null> = Promise.resolve(null);
  #hasBegun = false;
  /** Whether the last page read has been written. */
  #isTaken = false;
  /** Whether the last page was longer than `LONG_PAGE_LENGTH`. */
  #isLong = false;
  #isWritten = false;
  #isOver = false;

  /**
   * @param system application id, for fair scheduling
   * @param close called once, at the end
   */
  constructor(system: string, source: Source, form: Form, close: () => Promise<void>) {
    this.#system = system;
    this.#source = source;
    this.#form = form;
    this.#close = close;
  }

  get share(): number {
    return this.#source.share;
  }

  /** Reads the first page. */
  async begin(): Promise<void> {
    try {
      this.#page = this.#read();
      await this.#page;
    } catch (error) {
      await this.#end();
      throw error;
    }
  }

  async next(): Promise<IteratorResult<string>> {
    try {
      const text = this.#isOver ? null : await this.#text();
      // The iterator may have been closed meanwhile.
      if (text !== null && !this.#isOver) return { done: false, value: text };
    } catch (error) {
      await this.#end();
      throw error;
    }
    return this.return();
  }

  async return(): Promise<IteratorResult<string>> {
    await this.#end();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Returns the text of the next non-empty page; finally the closing text, then `null`. */
  async #text(): Promise<string | null> {
    if (this.#isWritten) return null;
    let text = this.#hasBegun ? '' : this.#form.begin;
    this.#hasBegun = true;
    for (;;) {
      if (this.#isTaken) this.#readNext();
      const rows = await this.#page;
      this.#isTaken = true;
      if (rows === null) {
        this.#isWritten = true;
        return text + this.#form.end || null;
      }
      // Long pages are not read ahead, since the previous one may be waiting for a slow client.
      if (!this.#isLong) this.#readNext();
      const written = exporting.spend(() => this.#form.write(rows));
      this.count += rows.length;
      this.#resize(rows.length, written.length);
      text += written;
      if (text !== '') return text;
    }
  }

  #readNext(): void {
    this.#page = this.#read();
    this.#isTaken = false;
    // The error is thrown when the page is awaited.
    this.#page.catch(() => {});
  }

  async #read(): Promise<readonly Row[] | null> {
    for (;;) {
      await exporting.waitForTurn(this.#system);
      const size = this.#size;
      const began = performance.now();
      try {
        const max = size === 1 ? MAX_RECORD_LENGTH : MAX_PAGE_LENGTH;
        // Short reads complete synchronously within this turn.
        const rows = await exporting.spend(() => this.#source.read(size, max));
        this.#tookMs = performance.now() - began;
        return rows;
      } catch (error) {
        if (size === 1 || !(error instanceof ServiceError && error.key === 'resultTooLarge')) throw error;
        this.#size = Math.max(1, size >> 3);
      }
    }
  }

  /** Adapts the page size. @param length characters of the last page */
  #resize(records: number, length: number): void {
    this.#isLong = length > LONG_PAGE_LENGTH;
    const max = this.#tookMs > SLOW_PAGE_MS ? 1 : GROWTH;
    const factor = Math.min(max, PAGE_LENGTH / Math.max(1, length), this.#source.pageRecords / Math.max(1, records));
    this.#size = Math.max(1, Math.round(this.#size * factor));
  }

  async #end(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#close();
  }
}
