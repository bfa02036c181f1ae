import type { TableSchema } from '../../schema/model.ts';
import { columnFields } from '../../storage/column-values.ts';
import type { StoredRow } from '../../storage/raw-access.ts';
import type { StoredValue } from '../../values/index.ts';
import type { ValueChange } from './anonymise/index.ts';

/** A field that is set from another one of the changed record. */
interface Derivation {
  readonly at: number;
  readonly from: number;
  readonly key: (text: string) => StoredValue;
}

/** What a clone changes in the records of one table. */
export class RowChanges {
  readonly #places: ReadonlyMap<string, number>;
  readonly #changes: (readonly [at: number, change: ValueChange])[] = [];
  readonly #derivations: Derivation[] = [];
  readonly #conditions: ((row: StoredRow) => boolean)[] = [];
  #noticed: (readonly [at: number, notice: () => void])[] = [];

  constructor(table: TableSchema) {
    this.#places = placesOf(table);
  }

  /** Changes the values of a field, if the table has it. */
  change(field: string, change: ValueChange): void {
    const at = this.#places.get(field);
    if (at !== undefined) this.#changes.push([at, change]);
  }

  /** Removes the values of a field. */
  clear(field: string): void {
    this.change(field, () => null);
  }

  /** Sets a field from another one, after that has been changed. */
  derive(field: string, from: string, key: (text: string) => StoredValue): void {
    const [at, source] = [this.#places.get(field), this.#places.get(from)];
    if (at !== undefined && source !== undefined) this.#derivations.push({ at, from: source, key });
  }

  /** Takes only records that have a value in a field. */
  require(field: string): void {
    const at = this.#places.get(field);
    if (at !== undefined) this.#conditions.push((row) => row[at] !== null);
  }

  /** Calls a function once if a field has a value in any record. */
  notice(field: string, notice: () => void): void {
    const at = this.#places.get(field);
    if (at !== undefined) this.#noticed.push([at, notice]);
  }

  /** Returns the changed records, without those that are not taken. */
  of(rows: readonly StoredRow[]): readonly StoredRow[] {
    const taken = this.#conditions.length === 0 ? rows : rows.filter((row) => this.#conditions.every((holds) => holds(row)));
    if (this.#noticed.length > 0) this.#look(taken);
    return this.#changes.length === 0 ? taken : taken.map((row) => this.#changed(row));
  }

  #look(rows: readonly StoredRow[]): void {
    this.#noticed = this.#noticed.filter(([at, notice]) => {
      const isFound = rows.some((row) => row[at] !== null && row[at] !== '');
      if (isFound) notice();
      return !isFound;
    });
  }

  #changed(row: StoredRow): StoredRow {
    const changed: [number, ...StoredValue[]] = [...row];
    for (const [at, change] of this.#changes) {
      const value = changed[at];
      if (value !== null && value !== undefined) changed[at] = change(value);
    }
    for (const { at, from, key } of this.#derivations) {
      const text = changed[from];
      changed[at] = typeof text === 'string' ? key(text) : null;
    }
    return changed;
  }
}

/** Returns the place of each field in the stored rows of a table: the first is that of the position. */
export function placesOf(table: TableSchema): ReadonlyMap<string, number> {
  return new Map(columnFields(table).map(({ name }, at) => [name, at + 1]));
}
