import type { Filter } from '../../query/model/filter.ts';
import { readRows } from '../../records/index.ts';
import { fieldOf, type Schema, type TableSchema, tableOf } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import { keyOf } from './encryption.ts';
import { itemTable } from './items.ts';

/** Maximum number of open items of a kind in a system: at their maximum size 16 MB. */
export const MAX_ITEMS = 1_000;
/** Number of additions between two checks. */
const CHECK_EVERY = 25;

/** Returns the `family` of open items from a network, by which they are found together. */
export const familyOfNetwork = (network: string): string => keyOf('Network', network);

interface Row {
  readonly objectId: string;
  readonly family: string;
}

/**
 * Limits the items of one system that are created without sign-in: pending authorization requests, and clients without a grant. The oldest items of
 * the network with the most are deleted, so that a flood displaces only its own items.
 */
export class OpenItems {
  readonly #store: Store;
  readonly #max: number;
  readonly #checkEvery: number;
  readonly #added = new Map<string, number>();

  constructor(store: Store, max = MAX_ITEMS, checkEvery = CHECK_EVERY) {
    this.#store = store;
    this.#max = max;
    this.#checkEvery = checkEvery;
  }

  /** Counts an added item, and checks the limit of its kind now and then. */
  async added(kind: string): Promise<void> {
    const added = this.#added.get(kind) ?? 0;
    this.#added.set(kind, (added + 1) % this.#checkEvery);
    // Check on the first addition too: another process may have added items before.
    if (added === 0) await this.#removeOldest(kind);
  }

  async #removeOldest(kind: string): Promise<void> {
    const rows = await readRows<Row>(this.#store, {
      className: itemTable,
      fields: ['objectId', 'family'],
      filter: (table) => isOpen(table, kind),
    });
    const ids = oldestRows(rows, rows.length - this.#max);
    if (ids.length === 0) return;
    const plan = (schema: Schema) => {
      const table = tableOf(schema, itemTable);
      const among: Filter = { kind: 'in', field: fieldOf(table, 'objectId'), values: ids };
      // Items that got a grant or a user meanwhile stay.
      const filter: Filter = { kind: 'and', items: [among, isOpen(table, kind)] };
      return { changes: [], mutations: [{ kind: 'deleteAll', table, filter } as const] };
    };
    await this.#store.write({ plan });
  }
}

/** Returns a filter for open items of a kind, which belong to a network and expire. */
function isOpen(table: TableSchema, kind: string): Filter {
  const has = (name: string): Filter => ({ kind: 'exists', ref: { field: fieldOf(table, name), path: [] } });
  const isKind: Filter = { kind: 'compare', field: fieldOf(table, 'kind'), op: 'eq', value: kind };
  return { kind: 'and', items: [isKind, has('family'), has('expiresAt')] };
}

/** Returns the ids of `count` rows, each time the oldest of the network with the most rows. @param rows oldest first */
function oldestRows(rows: readonly Row[], count: number): string[] {
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
