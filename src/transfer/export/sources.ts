import type { Grant } from '../../access/index.ts';
import type { FindOptions } from '../../query/index.ts';
import type { Filter } from '../../query/model/filter.ts';
import { findRecords, type RecordContext, type Row } from '../../records/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import { rowsOf } from '../../storage/text-values.ts';
import type { SortedIds } from './sorted-ids.ts';

/** The records of an export, by parts of a size that is chosen anew for each. */
export interface Source {
  /** How many records a part has at best. */
  readonly pageRecords: number;
  /** How much of all was read, from 0 to 1. */
  readonly share: number;
  /**
   * The records of the next part; `null` after the last. The same part again, or its beginning, after an error.
   * @param size how many records are looked at
   * @param most characters of their text
   * @throws resultTooLarge (116) where they are more; what `findRecords` throws
   */
  read(size: number, most: number): Promise<readonly Row[] | null>;
}

/** What is asked of each part. */
interface Asked {
  readonly context: RecordContext;
  readonly className: string;
  readonly options: Pick<FindOptions, 'where' | 'keys' | 'include'>;
}

/** In the order of creation. A record keeps its place in it, so that none is left out and none comes twice, whatever others write. */
export class ByPlace implements Source {
  /** As many as a store may read on the event loop. */
  readonly pageRecords = 200;
  readonly #asked: Asked;
  readonly #last: number;
  #after = 0;

  /** @param last the place of the last record, when the export begins: it ends, however many are added */
  constructor(asked: Asked, last: number) {
    this.#asked = asked;
    this.#last = last;
  }

  get share(): number {
    return this.#last === 0 ? 1 : this.#after / this.#last;
  }

  async read(size: number, most: number): Promise<readonly Row[] | null> {
    if (this.#after >= this.#last) return null;
    const upTo = Math.min(this.#last, this.#after + size);
    const rows = await readPart(this.#asked, () => ({ kind: 'places', after: this.#after, upTo }), upTo - this.#after, most);
    this.#after = upTo;
    return rows;
  }
}

/** In the order of a list of ids, which was made at one moment. Records that are deleted meanwhile, or that match no more, are left out. */
export class ByIds implements Source {
  /** Each part is a statement, which a store may hand to a thread. */
  readonly pageRecords = 1_000;
  readonly #asked: Asked;
  readonly #ids: SortedIds;

  constructor(asked: Asked, ids: SortedIds) {
    this.#asked = asked;
    this.#ids = ids;
  }

  get share(): number {
    return this.#ids.share;
  }

  async read(size: number, most: number): Promise<readonly Row[] | null> {
    const ids = await this.#ids.peek(Math.min(size, this.pageRecords));
    if (ids.length === 0) return null;
    const rows = await readPart(this.#asked, ({ table }) => among(table, ids), ids.length, most);
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
  { context, className, options }: Asked,
  within: (grant: Grant) => Filter,
  limit: number,
  most: number,
): Promise<Row[]> {
  return rowsOf<Row>(await findRecords(context, className, { ...options, within, limit }, true), most);
}
