import { LoopShare } from '../../admission/loop-share.ts';
import { ServiceError } from '../../errors/fail.ts';
import type { FindOptions } from '../../query/index.ts';
import { findRecords, planRecords, type RecordContext, type Row } from '../../records/index.ts';
import { columnsOf, keysOf } from './columns.ts';
import { csvForm, type Form, jsonForm, ndjsonForm } from './forms.ts';
import type { ExportOptions } from './parameters.ts';
import { SortedIds } from './sorted-ids.ts';
import { ByIds, ByPlace, type Source } from './sources.ts';

/** Characters of a page, some: what is read and written out in one turn. */
const PAGE_LENGTH = 256 * 1024;
/** Characters of records that a page may come to, and a page of one record. */
const MAX_PAGE_LENGTH = 4 * 1024 * 1024;
const MAX_RECORD_LENGTH = 64 * 1024 * 1024;
/** Characters from which on a page is long. */
const LONG_PAGE_LENGTH = 4 * PAGE_LENGTH;
/** Records of the first page: their lengths are not known yet. */
const FIRST_PAGE_SIZE = 100;
/** The next page is larger than the last by this at most, and not at all where that took so long. */
const GROWTH = 4;
const SLOW_PAGE_MS = 500;

/** Milliseconds of a turn of the event loop after which exports, all together, wait for the next one: a page is read and written in some. */
const exporting = new LoopShare({ maxMsPerTurn: 1 });

/** The records of a table as a text, page by page. To be read to its end, or returned. */
export interface Export extends AsyncIterableIterator<string> {
  /** Records so far. */
  readonly count: number;
  /** How much of the table was read, from 0 to 1. */
  readonly share: number;
}

/**
 * Begins an export of the records that a caller sees, as he sees them (CONTRACT "Export, import, migration"). What is refused is refused here,
 * with what the first page is; an error after it is thrown by the pieces.
 * @param context the read that is under way ends by its `until`, and when the pieces are returned
 * @param admitted waited for before the first record is read, once nothing of the request is refused
 * @throws classMissing (103), permissionDenied (119); what the options and `admitted` throw
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
  const asked = {
    context: { ...context, until },
    className,
    options: { where, keys: isCsv ? keysOf(columns) : keys, include },
  };
  const ids = order.length > 0 ? await sortedIds(asked.context, className, { where, order }, until) : null;
  const source = ids ? new ByIds(asked, ids) : new ByPlace(asked, await context.store.raw.lastPlace(query.table));
  const pieces = new ExportPieces(context.appId, source, form, async () => {
    left.abort();
    await ids?.close();
  });
  await pieces.begin();
  return pieces;
}

/** Whose members are read when the right to read the table is known. */
const planOf = (options: ExportOptions): FindOptions => ({
  refuseUnknown: () => options.refuseUnknown?.(),
  get where() {
    return options.where;
  },
  get keys() {
    const { format, keys = [], include = [], bom: _bom, raw: _raw } = options;
    // A column that is included is there whatever the keys say.
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

/** Reads a page while the one before is written out and taken. Not a generator: one that was never begun would not hear that it is returned. */
class ExportPieces implements Export {
  count = 0;
  readonly #system: string;
  readonly #source: Source;
  readonly #form: Form;
  readonly #close: () => Promise<void>;
  #size = FIRST_PAGE_SIZE;
  /** Of the last page that was read. */
  #tookMs = 0;
  #page: Promise<readonly Row[] | null> = Promise.resolve(null);
  #hasBegun = false;
  /** Whether the page that was read last is written. */
  #isTaken = false;
  /** Whether the last page was. */
  #isLong = false;
  #isWritten = false;
  #isOver = false;

  /**
   * @param system whose records they are
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
      // They may have been returned meanwhile.
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

  /** The text of the next page that has one; at last that after all pages, then `null`. */
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
      // A page of long records is not read while the one before may wait for its client.
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
    // Told when its turn comes.
    this.#page.catch(() => {});
  }

  async #read(): Promise<readonly Row[] | null> {
    for (;;) {
      await exporting.waitForTurn(this.#system);
      const size = this.#size;
      const began = performance.now();
      try {
        const most = size === 1 ? MAX_RECORD_LENGTH : MAX_PAGE_LENGTH;
        // What is short is read at once, in this turn.
        const rows = await exporting.spend(() => this.#source.read(size, most));
        this.#tookMs = performance.now() - began;
        return rows;
      } catch (error) {
        if (size === 1 || !(error instanceof ServiceError && error.key === 'resultTooLarge')) throw error;
        this.#size = Math.max(1, size >> 3);
      }
    }
  }

  /** @param length of the text that the records of a page came to */
  #resize(records: number, length: number): void {
    this.#isLong = length > LONG_PAGE_LENGTH;
    const most = this.#tookMs > SLOW_PAGE_MS ? 1 : GROWTH;
    const factor = Math.min(most, PAGE_LENGTH / Math.max(1, length), this.#source.pageRecords / Math.max(1, records));
    this.#size = Math.max(1, Math.round(this.#size * factor));
  }

  async #end(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#close();
  }
}
