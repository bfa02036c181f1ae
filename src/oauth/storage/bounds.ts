import type { Filter } from '../../query/model/filter.ts';
import { readRows } from '../../records/index.ts';
import { fieldOf, type Schema, type TableSchema, tableOf } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import { keyOf } from './encryption.ts';
import { itemTable } from './items.ts';

/** Items of a kind that a system keeps though nobody has signed in for them: 16 MB at most, as large as they may be. */
const MAX_ITEMS = 1_000;
/** How many are added between two looks. */
const CHECK_EVERY = 25;

/** What items that a network adds without a sign-in have for a family, so that those of it are found together. */
export const familyOfNetwork = (network: string): string => keyOf('Network', network);

interface Row {
  readonly objectId: string;
  readonly family: string;
}

/**
 * Bounds the items of one system that anybody may add: requests that wait for a user, clients that never came to a grant. Of the network that
 * has most of them the oldest goes, so that one who adds many removes his own.
 */
export class OpenItems {
  readonly #store: Store;
  readonly #most: number;
  readonly #each: number;
  readonly #added = new Map<string, number>();

  constructor(store: Store, most = MAX_ITEMS, each = CHECK_EVERY) {
    this.#store = store;
    this.#most = most;
    this.#each = each;
  }

  /** Takes note of an item that was added, and looks now and then whether there are too many of its kind. */
  async added(kind: string): Promise<void> {
    const added = this.#added.get(kind) ?? 0;
    this.#added.set(kind, (added + 1) % this.#each);
    // Another process may have added some before this one's first.
    if (added === 0) await this.#removeOldest(kind);
  }

  async #removeOldest(kind: string): Promise<void> {
    const rows = await readRows<Row>(this.#store, {
      className: itemTable,
      fields: ['objectId', 'family'],
      filter: (table) => isOpen(table, kind),
    });
    const ids = beyond(rows, rows.length - this.#most);
    if (ids.length === 0) return;
    const plan = (schema: Schema) => {
      const table = tableOf(schema, itemTable);
      const among: Filter = { kind: 'in', field: fieldOf(table, 'objectId'), values: ids };
      // One that has come to a grant, or a user, meanwhile stays.
      const filter: Filter = { kind: 'and', items: [among, isOpen(table, kind)] };
      return { changes: [], mutations: [{ kind: 'deleteAll', table, filter } as const] };
    };
    await this.#store.write({ plan });
  }
}

/** Items of a kind that are a network's, and are to end. */
function isOpen(table: TableSchema, kind: string): Filter {
  const has = (name: string): Filter => ({ kind: 'exists', ref: { field: fieldOf(table, name), path: [] } });
  const isKind: Filter = { kind: 'compare', field: fieldOf(table, 'kind'), op: 'eq', value: kind };
  return { kind: 'and', items: [isKind, has('family'), has('expiresAt')] };
}

/** The ids of so many rows: again and again the oldest of the network with most of them. @param rows the oldest first */
function beyond(rows: readonly Row[], count: number): string[] {
  const lines = [...Map.groupBy(rows, ({ family }) => family).values()];
  const ids: string[] = [];
  while (ids.length < count) {
    const longest = lines.reduce((one, other) => (other.length > one.length ? other : one));
    const oldest = longest.shift();
    if (!oldest) break;
    ids.push(oldest.objectId);
  }
  return ids;
}
