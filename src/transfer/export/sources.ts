import type { Grant } from '../../access/index.ts';
import type { FindOptions } from '../../query/index.ts';
import type { Filter } from '../../query/model/filter.ts';
import { findRecords, type RecordContext, type Row } from '../../records/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { SortedIds } from '../../storage/sorted-ids.ts';
import { rowsOf } from '../../storage/text-values.ts';

/** Reads the records of an export in parts, whose size the caller chooses for each. */
export interface Source {
  /** Preferred number of records per part. */
  readonly pageRecords: number;
  /** Share of the whole that has been read, from 0 to 1. */
  readonly share: number;
  /**
   * Reads the next part; `null` after the last. After an error, the next call reads the same part again, or its beginning.
   * @param size number of records examined
   * @param maxChars maximum length of their text
   * @throws resultTooLarge (116) if they are longer; errors of `findRecords`
   */
  read(size: number, maxChars: number): Promise<readonly Row[] | null>;
}

/** The query for each part. */
interface ReadRequest {
  readonly context: RecordContext;
  readonly className: string;
  readonly options: Pick<FindOptions, 'where' | 'keys' | 'include'>;
}

/** Reads in order of creation. A record keeps its place, so that concurrent writes cause neither gaps nor duplicates. */
export class ByPlace implements Source {
  /** As many as a store may read on the event loop. */
  readonly pageRecords = 200;
  readonly #request: ReadRequest;
  readonly #last: number;
  #after = 0;

  /** @param last place of the last record when the export begins: records added later are not exported, so that it terminates */
  constructor(request: ReadRequest, last: number) {
    this.#request = request;
    this.#last = last;
  }

  get share(): number {
    return this.#last === 0 ? 1 : this.#after / this.#last;
  }

  async read(size: number, maxChars: number): Promise<readonly Row[] | null> {
    if (this.#after >= this.#last) return null;
    const upTo = Math.min(this.#last, this.#after + size);
    const rows = await readPart(
      this.#request,
      () => ({ kind: 'places', after: this.#after, upTo }),
      upTo - this.#after,
      maxChars,
    );
    this.#after = upTo;
    return rows;
  }
}

/** Reads in the order of a list of ids, made at one moment. Records that are deleted meanwhile, or no longer match, are left out. */
export class ByIds implements Source {
  /** Each part is one statement, which a store may execute on a thread. */
  readonly pageRecords = 1_000;
  readonly #request: ReadRequest;
  readonly #ids: SortedIds;

  constructor(request: ReadRequest, ids: SortedIds) {
    this.#request = request;
    this.#ids = ids;
  }

  get share(): number {
    return this.#ids.share;
  }

  async read(size: number, maxChars: number): Promise<readonly Row[] | null> {
    const ids = await this.#ids.peek(Math.min(size, this.pageRecords));
    if (ids.length === 0) return null;
    const rows = await readPart(this.#request, ({ table }) => among(table, ids), ids.length, maxChars);
    this.#ids.take(ids.length);
    const byId = new Map(rows.map((row) => [row.objectId, row]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }
}

function among({ fields }: TableSchema, ids: readonly string[]): Filter {
  const field = fields.get('objectId');
  return field ? { kind: 'in', field, values: ids } : { kind: 'never' };
}

async function readPart(
  { context, className, options }: ReadRequest,
  within: (grant: Grant) => Filter,
  limit: number,
  maxChars: number,
): Promise<Row[]> {
  return rowsOf<Row>(await findRecords(context, className, { ...options, within, limit }, 'values'), maxChars);
}
