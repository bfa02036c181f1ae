import { fileIdsOf } from '../../files/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import { chunkedRows, type StoredRow, type StoreSnapshot } from '../../storage/raw-access.ts';
import type { StoredValue } from '../../values/index.ts';
import { IdSet } from './id-set.ts';
import { placesOf } from './row-changes.ts';
import { fileTable, usageTable } from './shares.ts';

/** Which files the records of a clone name. The rows of files that none names are left out, and the sums of sizes are those of the others. */
export class FileMentions {
  readonly #known = new IdSet();
  readonly #named = new IdSet();
  #files = 0;
  #bytes = 0;

  /** Reads the ids of all files of the original. */
  async know(snapshot: StoreSnapshot): Promise<void> {
    const table = snapshot.schema.tables.get(fileTable);
    if (!table) return;
    const at = placesOf(table).get('objectId') ?? 0;
    for await (const rows of chunkedRows(snapshot, table, 0)) for (const row of rows) this.#known.add(String(row[at]));
  }

  /** Returns a function that takes the rows of a table. Rows of files come after all others, and then those of the sums. */
  of(table: TableSchema): (rows: readonly StoredRow[]) => readonly StoredRow[] {
    if (table.className === fileTable) return this.#namedOf(table);
    if (table.className === usageTable) return this.#sums(table);
    if (this.#known.size === 0) return (rows) => rows;
    const idsOf = fileIdsOf(table);
    return (rows) => {
      for (const row of rows) for (const id of idsOf(row)) if (this.#known.has(id)) this.#named.add(id);
      return rows;
    };
  }

  #namedOf(table: TableSchema): (rows: readonly StoredRow[]) => readonly StoredRow[] {
    const places = placesOf(table);
    const [id, size] = [places.get('objectId') ?? 0, places.get('size') ?? 0];
    return (rows) => {
      const named = rows.filter((row) => this.#named.has(String(row[id])));
      this.#files += named.length;
      for (const row of named) this.#bytes += Number(row[size]);
      return named;
    };
  }

  #sums(table: TableSchema): (rows: readonly StoredRow[]) => readonly StoredRow[] {
    const places = placesOf(table);
    return (rows) =>
      rows.map((row) => {
        const changed: [number, ...StoredValue[]] = [...row];
        changed[places.get('files') ?? 0] = this.#files;
        changed[places.get('bytes') ?? 0] = this.#bytes;
        return changed;
      });
  }
}
