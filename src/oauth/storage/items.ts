import { setTimeout as wait } from 'node:timers/promises';
import { deleteExpired } from '../../audit/index.ts';
import { fail, isInDoubt, isPassing, ServiceError } from '../../errors/fail.ts';
import { Contention } from '../../kernel/contention.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Filter } from '../../query/model/filter.ts';
import { type Progress, readRow, readRows } from '../../records/index.ts';
import { fieldOf, type Schema, type TableSchema, tableOf } from '../../schema/model.ts';
import { assignmentsOf, columnsOf, type OwnValues } from '../../storage/column-values.ts';
import type { Mutation, Store } from '../../storage/port.ts';
import type { StoredValue } from '../../values/index.ts';
import { type ItemEncryption, keyOf } from './encryption.ts';

/** The table of sign-in items, one row each. Hidden from all callers. */
export const itemTable = '_OAuthItem';

/** A stored item. Times are milliseconds since 1970, `null` for never. */
export interface Item {
  readonly payload: JsonObject;
  readonly expiresAt: number | null;
  readonly consumedAt: number | null;
}

/** An item to store. */
export interface NewItem {
  readonly payload: JsonObject;
  readonly expiresAt: number | null;
  /** Key of the grant that it is deleted with. */
  readonly family?: string;
  /** Another id by which it can be found. */
  readonly uid?: string;
  /** Key of a row that must exist and not be expired: the grant of the item. */
  readonly requires?: string;
  /** Key of a row whose expiry is removed. */
  readonly keeps?: string;
}

interface Row {
  readonly objectId: string;
  readonly kind?: string;
  readonly payload?: string;
  readonly consumedAt?: { readonly iso: string };
  readonly expiresAt?: { readonly iso: string };
}

const rowFields = ['objectId', 'kind', 'payload', 'consumedAt', 'expiresAt'] as const;
const stateFields = ['objectId', 'kind', 'expiresAt'] as const;
const familyFields = ['objectId', 'family'] as const;

/** How long an unavailable store is retried, and the minimum delay between attempts. */
const RETRY_TIMEOUT_MS = 5_000;
const RETRY_DELAY_MS = 100;

/** The sign-in items of one system (docs/adr/0014-sign-in.md). Expired items count as missing. */
export class Items {
  readonly #store: Store;
  readonly #encryption: ItemEncryption;
  readonly #progress: () => Progress;

  /** @param progress returns that of the current request */
  constructor(store: Store, encryption: ItemEncryption, progress: () => Progress = () => ({ hasWritten: false })) {
    this.#store = store;
    this.#encryption = encryption;
    this.#progress = progress;
  }

  /** Reads an item; `null` if there is none or another installation encrypted it. */
  async read(kind: string, id: string): Promise<Item | null> {
    return this.#opened(await readRow<Row>(this.#store, itemTable, rowFields, keyOf(kind, id)), kind);
  }

  /** Reads the first item of a kind by its `uid`. */
  async readByUid(kind: string, uid: string): Promise<Item | null> {
    const [row] = await readRows<Row>(this.#store, {
      className: itemTable,
      fields: rowFields,
      filter: (table) => is(table, 'uid', keyOf(kind, uid)),
      limit: 1,
    });
    return this.#opened(row ?? null, kind);
  }

  /** Whether an unexpired item exists for a key. Does not decrypt it. */
  async exists(kind: string, key: string): Promise<boolean> {
    const row = await readRow<Row>(this.#store, itemTable, stateFields, key);
    return row !== null && row.kind === kind && !isExpired(row);
  }

  /**
   * Stores an item, replacing an existing one.
   * @returns false if the item that it requires is missing
   * @throws unavailable if others keep writing the same item for seconds
   */
  async put(kind: string, id: string, item: NewItem): Promise<boolean> {
    const key = keyOf(kind, id);
    const write = () =>
      this.#write((table, at) => [
        ...this.#relatedSteps(table, item, at),
        { kind: 'deleteAll', table, filter: is(table, 'objectId', key) },
        this.#insert(table, { kind, key, item, at }),
      ]);
    // Concurrent processes that put one item may all find none and insert.
    for (const contention = new Contention(); !contention.isOver; await contention.next(5, 20)) {
      // An item of a grant follows a code or token that is used already; a repeated request would be refused, so retry here.
      const outcome = await (item.requires === undefined ? write() : this.#retry(write, isPassing));
      if (outcome !== 'taken') return outcome === 'done';
    }
    return fail('unavailable');
  }

  /** Stores an item, unless one exists. @returns whether there was none */
  async add(kind: string, id: string, item: NewItem): Promise<boolean> {
    const key = keyOf(kind, id);
    return (await this.#write((table, at) => [this.#insert(table, { kind, key, item, at })])) === 'done';
  }

  /**
   * Marks an item as used. After an unknown outcome, a retry would look like a second use; the stored timestamp tells them apart.
   * @returns whether this was the first use; of concurrent calls one is
   */
  async consume(kind: string, id: string): Promise<boolean> {
    const at = Date.now();
    const key = keyOf(kind, id);
    const write = () =>
      this.#write((table) => [
        {
          kind: 'update',
          table,
          objectId: key,
          guard: null,
          condition: { kind: 'not', item: { kind: 'exists', ref: { field: fieldOf(table, 'consumedAt'), path: [] } } },
          assignments: assignmentsOf(table, { consumedAt: at }),
          returning: [],
        },
      ]);
    return this.#retry(async (mayHaveExecuted) => {
      if ((await write()) === 'done') return true;
      if (!mayHaveExecuted) return false;
      const row = await readRow<Row>(this.#store, itemTable, rowFields, key);
      return timeOf(row?.consumedAt) === at;
    }, isInDoubt);
  }

  /** Sets the expiry of an item. @returns whether it exists */
  async extend(kind: string, id: string, expiresAt: number): Promise<boolean> {
    const outcome = await this.#write((table) => {
      const assignments = assignmentsOf(table, { expiresAt });
      return [{ kind: 'update', table, objectId: keyOf(kind, id), guard: null, assignments, returning: [] }];
    });
    return outcome === 'done';
  }

  async remove(kind: string, id: string): Promise<void> {
    await this.#write((table) => [{ kind: 'deleteAll', table, filter: is(table, 'objectId', keyOf(kind, id)) }]);
  }

  /** Deletes a grant and all items of its family. @param family key of the grant */
  async removeFamily(family: string): Promise<void> {
    const removal = (table: TableSchema) => ({ kind: 'deleteAll', table, filter: is(table, 'family', family) }) as const;
    const outcome = await this.#write((table) => [
      // Locks the grant: a concurrent write of its tokens finishes first, and they are deleted too.
      { kind: 'require', table, filter: is(table, 'objectId', family), exclusive: true },
      removal(table),
    ]);
    if (outcome === 'missing') await this.#write((table) => [removal(table)]);
  }

  /** Returns the family of an item without decrypting it; `null` if it is missing or has none. */
  async familyOf(kind: string, id: string): Promise<string | null> {
    const row = await readRow<{ readonly family?: string }>(this.#store, itemTable, familyFields, keyOf(kind, id));
    return row?.family ?? null;
  }

  /** Deletes an item that cannot be decrypted, unless it was replaced meanwhile. */
  async removeUnreadable(kind: string, id: string): Promise<void> {
    const row = await readRow<Row>(this.#store, itemTable, rowFields, keyOf(kind, id));
    if (row?.payload === undefined || this.#opened(row, kind)) return;
    const { objectId, payload } = row;
    await this.#write((table) => {
      const items = [is(table, 'objectId', objectId), is(table, 'payload', payload)];
      return [{ kind: 'deleteAll', table, filter: { kind: 'and', items } }];
    });
  }

  #opened(row: Row | null, kind: string): Item | null {
    if (row?.payload === undefined || row.kind !== kind || isExpired(row)) return null;
    const text = this.#encryption.decrypt(row.payload, row.objectId);
    if (text === null) return null;
    return { payload: JSON.parse(text), expiresAt: timeOf(row.expiresAt), consumedAt: timeOf(row.consumedAt) };
  }

  /** Returns the additional steps for storing an item. */
  #relatedSteps(table: TableSchema, { requires, keeps }: NewItem, at: number): Mutation[] {
    const steps: Mutation[] = [];
    if (requires !== undefined) {
      const inForce: Filter = { kind: 'compare', field: fieldOf(table, 'expiresAt'), op: 'gt', value: at };
      steps.push({ kind: 'require', table, filter: { kind: 'and', items: [is(table, 'objectId', requires), inForce] } });
    }
    if (keeps !== undefined) {
      const assignments = assignmentsOf(table, { expiresAt: null });
      steps.push({ kind: 'updateAll', table, filter: is(table, 'objectId', keeps), assignments });
    }
    return steps;
  }

  #insert(table: TableSchema, made: { kind: string; key: string; item: NewItem; at: number }): Mutation {
    const { kind, key, item, at } = made;
    const values: OwnValues = {
      objectId: key,
      createdAt: at,
      updatedAt: at,
      kind,
      payload: this.#encryption.encrypt(JSON.stringify(item.payload), key),
      family: item.family ?? null,
      uid: item.uid === undefined ? null : keyOf(kind, item.uid),
      expiresAt: item.expiresAt,
    };
    return { kind: 'insert', table, values: columnsOf(table, values) };
  }

  /**
   * Retries idempotent work for a while when the store is unavailable.
   * @param work receives whether an earlier attempt may have been executed
   * @param shouldRetry whether to retry after an error; once an outcome is unknown, all passing errors are retried
   */
  async #retry<T>(work: (mayHaveExecuted: boolean) => Promise<T>, shouldRetry: (error: unknown) => boolean): Promise<T> {
    const until = performance.now() + RETRY_TIMEOUT_MS;
    let unknownOutcome: unknown;
    for (;;)
      try {
        return await work(unknownOutcome !== undefined);
      } catch (error) {
        if (isInDoubt(error)) unknownOutcome ??= error;
        const left = until - performance.now();
        if (!(unknownOutcome === undefined ? shouldRetry(error) : isPassing(error))) throw error;
        if (left <= 0) throw unknownOutcome ?? error;
        const back = Promise.all([this.#store.whenBack(), wait(RETRY_DELAY_MS, undefined, { ref: false })]);
        await Promise.race([back, wait(left, undefined, { ref: false })]);
      }
  }

  /** @returns `missing` if a step did not find its record, `taken` if the key exists */
  async #write(steps: (table: TableSchema, at: number) => readonly Mutation[]): Promise<'done' | 'missing' | 'taken'> {
    const at = Date.now();
    const plan = (schema: Schema) => ({ changes: [], mutations: steps(tableOf(schema, itemTable), at) });
    try {
      await this.#store.write({ plan });
      this.#progress().hasWritten = true;
      return 'done';
    } catch (error) {
      const key = error instanceof ServiceError ? error.key : null;
      if (key === 'objectNotFound') return 'missing';
      if (key === 'duplicateValue') return 'taken';
      throw error;
    }
  }
}

const is = (table: TableSchema, name: string, value: StoredValue): Filter => ({
  kind: 'compare',
  field: fieldOf(table, name),
  op: 'eq',
  value,
});

const timeOf = (date: { readonly iso: string } | undefined): number | null => (date ? Date.parse(date.iso) : null);

const isExpired = ({ expiresAt }: Row): boolean => {
  const end = timeOf(expiresAt);
  return end !== null && end <= Date.now();
};

/**
 * Deletes expired sign-in items: codes, tokens, grants, sessions, and clients that never got a grant. Items whose expiry is extended meanwhile stay.
 * @param shouldStop asked before each batch
 */
export const sweepItems = (store: Store, shouldStop: () => boolean): Promise<void> =>
  deleteExpired(store, itemTable, Date.now(), shouldStop);
