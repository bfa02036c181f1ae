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
import { keyOf, type Sealer } from './encryption.ts';

/** The table of what sign-ins for agents leave: a row for each item. It exists for nobody. */
export const itemTable = '_OAuthItem';

/** What a row says beside its payload. Times are milliseconds since 1970, `null` for never. */
export interface Item {
  readonly payload: JsonObject;
  readonly expiresAt: number | null;
  readonly consumedAt: number | null;
}

/** An item to keep. */
export interface NewItem {
  readonly payload: JsonObject;
  readonly expiresAt: number | null;
  /** The key of the grant that it falls with. */
  readonly family?: string;
  /** Another id that it is found by. */
  readonly uid?: string;
  /** A key that has to be there, and whose row has to be in force: of the grant that it is made for. */
  readonly requires?: string;
  /** A key whose row is kept from now on, until it is removed. */
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

/** Milliseconds for which a store that is away is waited for, and until it is asked again at the soonest. */
const PATIENCE_MS = 5_000;
const PAUSE_MS = 100;

/** The items of one system (docs/adr/0014-sign-in.md). An item that has expired is not there. */
export class Items {
  readonly #store: Store;
  readonly #sealer: Sealer;
  readonly #progress: () => Progress;

  /** @param progress of the request under way */
  constructor(store: Store, sealer: Sealer, progress: () => Progress = () => ({ hasWritten: false })) {
    this.#store = store;
    this.#sealer = sealer;
    this.#progress = progress;
  }

  /** An item; `null` where there is none, or another installation has sealed it. */
  async read(kind: string, id: string): Promise<Item | null> {
    return this.#opened(await readRow<Row>(this.#store, itemTable, rowFields, keyOf(kind, id)), kind);
  }

  /** The first item of a kind with another id. */
  async readByUid(kind: string, uid: string): Promise<Item | null> {
    const [row] = await readRows<Row>(this.#store, {
      className: itemTable,
      fields: rowFields,
      filter: (table) => is(table, 'uid', keyOf(kind, uid)),
      limit: 1,
    });
    return this.#opened(row ?? null, kind);
  }

  /** Whether the item of a key is there. It is not opened. */
  async isThere(kind: string, key: string): Promise<boolean> {
    const row = await readRow<Row>(this.#store, itemTable, stateFields, key);
    return row !== null && row.kind === kind && !isOver(row);
  }

  /**
   * Keeps an item in place of the one that is there.
   * @returns whether it could: not where what it requires is gone
   * @throws unavailable where others keep the same one at the same time, for seconds
   */
  async put(kind: string, id: string, item: NewItem): Promise<boolean> {
    const key = keyOf(kind, id);
    const write = () =>
      this.#write((table, at) => [
        ...this.#around(table, item, at),
        { kind: 'deleteAll', table, filter: is(table, 'objectId', key) },
        this.#insert(table, { kind, key, item, at }),
      ]);
    // Processes that put one item at a time may all find none.
    for (const contention = new Contention(); !contention.isOver; await contention.next(5, 20)) {
      // What a grant requires comes after a code or token that is used by then, and would be refused if it came again.
      const outcome = await (item.requires === undefined ? write() : this.#patiently(write, isPassing));
      if (outcome !== 'taken') return outcome === 'done';
    }
    return fail('unavailable');
  }

  /** Keeps an item, unless there is one. @returns whether there was none */
  async add(kind: string, id: string, item: NewItem): Promise<boolean> {
    const key = keyOf(kind, id);
    return (await this.#write((table, at) => [this.#insert(table, { kind, key, item, at })])) === 'done';
  }

  /**
   * Marks an item as used. A caller that asks again after an unknown outcome would count as the second one: that is found out here.
   * @returns whether this was the first time; of many at once one is
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
    return this.#patiently(async (mayBeDone) => {
      if ((await write()) === 'done') return true;
      if (!mayBeDone) return false;
      const row = await readRow<Row>(this.#store, itemTable, rowFields, key);
      return timeOf(row?.consumedAt) === at;
    }, isInDoubt);
  }

  /** Moves the end of an item. @returns whether it is there */
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

  /** Removes a grant and all that falls with it. @param family its key */
  async removeFamily(family: string): Promise<void> {
    const removal = (table: TableSchema) => ({ kind: 'deleteAll', table, filter: is(table, 'family', family) }) as const;
    const outcome = await this.#write((table) => [
      // Who keeps a token of the grant at this time is done before, and the token goes too.
      { kind: 'require', table, filter: is(table, 'objectId', family), exclusive: true },
      removal(table),
    ]);
    if (outcome === 'missing') await this.#write((table) => [removal(table)]);
  }

  /** The family of an item, opened or not; `null` where it is gone, or has none. */
  async familyOf(kind: string, id: string): Promise<string | null> {
    const row = await readRow<{ readonly family?: string }>(this.#store, itemTable, familyFields, keyOf(kind, id));
    return row?.family ?? null;
  }

  /** Removes an item that cannot be opened, and no other that may have taken its place. */
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
    if (row?.payload === undefined || row.kind !== kind || isOver(row)) return null;
    const text = this.#sealer.open(row.payload, row.objectId);
    if (text === null) return null;
    return { payload: JSON.parse(text), expiresAt: timeOf(row.expiresAt), consumedAt: timeOf(row.consumedAt) };
  }

  /** The steps that an item takes beside its own. */
  #around(table: TableSchema, { requires, keeps }: NewItem, at: number): Mutation[] {
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
      payload: this.#sealer.seal(JSON.stringify(item.payload), key),
      family: item.family ?? null,
      uid: item.uid === undefined ? null : keyOf(kind, item.uid),
      expiresAt: item.expiresAt,
    };
    return { kind: 'insert', table, values: columnsOf(table, values) };
  }

  /**
   * Does what may be done twice again once the store is back, for a while.
   * @param work told whether an earlier attempt may have been carried out
   * @param may whether it is done again after an error; after one that is in doubt it is, after all that can pass
   */
  async #patiently<T>(work: (mayBeDone: boolean) => Promise<T>, may: (error: unknown) => boolean): Promise<T> {
    const until = performance.now() + PATIENCE_MS;
    let doubt: unknown;
    for (;;)
      try {
        return await work(doubt !== undefined);
      } catch (error) {
        if (isInDoubt(error)) doubt ??= error;
        const left = until - performance.now();
        if (!(doubt === undefined ? may(error) : isPassing(error))) throw error;
        if (left <= 0) throw doubt ?? error;
        const back = Promise.all([this.#store.whenBack(), wait(PAUSE_MS, undefined, { ref: false })]);
        await Promise.race([back, wait(left, undefined, { ref: false })]);
      }
  }

  /** @returns `missing` where a step does not find its record, `taken` where an item of the key is there */
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

const isOver = ({ expiresAt }: Row): boolean => {
  const end = timeOf(expiresAt);
  return end !== null && end <= Date.now();
};

/**
 * Removes what has ended of sign-ins: codes, tokens, grants, sessions, and clients that registered and never came to a grant. What is moved on
 * meanwhile stays: a client is kept once it has a grant.
 * @param isEnough asked before each batch
 */
export const sweepItems = (store: Store, isEnough: () => boolean): Promise<void> =>
  deleteExpired(store, itemTable, Date.now(), isEnough);
