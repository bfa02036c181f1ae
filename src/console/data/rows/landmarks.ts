import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import { grantFor, type Principal } from '../../../access/index.ts';
import type { CrmContext } from '../../../crm/context.ts';
import { canonicalJson, type JsonObject } from '../../../kernel/json.ts';
import { SECOND_MS } from '../../../kernel/time.ts';
import type { Schema } from '../../../schema/model.ts';
import type { Place } from './seek.ts';

/** A row with a known position. */
export interface Landmark {
  readonly position: number;
  readonly place: Place;
  /** Whether the place lies between the row of that position and the next one, rather than at a row. */
  readonly isBetween?: true;
}

/** What is known about the records that match a `where`, for one caller. */
interface KnownPositions {
  readonly principal: Principal;
  readonly schema: Schema;
  readonly version: number;
  /** By `performance.now()`. */
  readonly since: number;
  total?: number;
  /** Version of the table at which the caller could read all of it; omitted if some records are hidden from it. */
  wholeVersion?: number | undefined;
  /** By order: rows that were read. */
  readonly marks: Map<string, Landmark[]>;
  /** By order: rows across the table, or the search for them in progress. */
  readonly milestones: Map<string, readonly Landmark[] | Promise<readonly Landmark[]>>;
  /** How long the entry is valid regardless of writes. */
  validMs: number;
}

const MAX_KNOWN = 200;
const MAX_ORDERS = 4;
const MAX_MARKS = 32;
const MAX_WHERE_LENGTH = 10_000;
/** How long positions may be stale despite writes; otherwise a table under constant writes would never have any. */
const MIN_VALID_MS = 15 * SECOND_MS;
/** Maximum age without known writes. */
const MAX_AGE_MS = 120 * SECOND_MS;
/** What took long to find is kept for this multiple of that time. */
const VALIDITY_FACTOR = 20;

const known = new LRUCache<string, KnownPositions>({ max: MAX_KNOWN });

/** Positions of rows that were read, so that a jump starts from the nearest one. Per process; like all offsets they are a snapshot. */
export class Landmarks {
  readonly #known: KnownPositions;
  readonly #version: () => number;

  private constructor(of: KnownPositions, version: () => number) {
    this.#known = of;
    this.#version = version;
  }

  /** Returns the landmarks of a caller, a table and a `where`; `null` if the caller may not count the records it finds. */
  static of(context: CrmContext, className: string, where: JsonObject): Landmarks | null {
    const { store, principal, appId } = context;
    const schema = store.schema();
    const table = schema.tables.get(className);
    if (!table || principal.kind !== 'user') return null;
    const [found, counted] = (['find', 'count'] as const).map((action) => grantFor(principal, action, table, schema));
    if (!found || !counted || !isDeepStrictEqual(found.rows, counted.rows)) return null;
    const text = canonicalJson(where);
    if (text.length > MAX_WHERE_LENGTH) return null;
    const key = JSON.stringify([appId, principal.userId, className, text]);
    const versionNow = () => store.tableVersion(className);
    const [version, now] = [versionNow(), performance.now()];
    const before = known.get(key);
    if (before?.principal === principal && before.schema === schema) {
      const age = now - before.since;
      if (age < before.validMs || (age < MAX_AGE_MS && before.version === version)) return new Landmarks(before, versionNow);
    }
    const fresh: KnownPositions = {
      principal,
      schema,
      version,
      since: now,
      marks: new Map(),
      milestones: new Map(),
      validMs: MIN_VALID_MS,
    };
    known.set(key, fresh);
    return new Landmarks(fresh, versionNow);
  }

  get total(): number | undefined {
    return this.#known.total;
  }

  /** Whether the caller could read the whole table when it was counted. */
  get wasWhole(): boolean {
    return this.#known.wholeVersion !== undefined;
  }

  /** Whether the caller can read the whole table now: nothing was written since, e.g. a record that is hidden from it. */
  get isWhole(): boolean {
    return this.#known.wholeVersion === this.#version();
  }

  /** Counts the records. @param countAll returns their number, and whether they are the whole table */
  async count(countAll: () => Promise<{ total: number; isWhole: boolean }>): Promise<number> {
    const version = this.#version();
    const { total, isWhole } = await countAll();
    Object.assign(this.#known, { total, wholeVersion: isWhole ? version : undefined });
    return total;
  }

  /** Returns the rows of an order with known positions. */
  marks(order: string): readonly Landmark[] {
    const milestones = this.#known.milestones.get(order);
    return [...(this.#known.marks.get(order) ?? []), ...(milestones instanceof Promise ? [] : (milestones ?? []))];
  }

  /** Finds and stores milestones. Of concurrent callers one searches; if it fails, the next one does. @param find searches for them */
  async placeMilestones(order: string, find: () => Promise<readonly Landmark[]>): Promise<void> {
    const { milestones } = this.#known;
    for (;;) {
      const found = milestones.get(order);
      if (!found) return this.#search(order, find);
      if (!(found instanceof Promise)) return;
      await found.catch(() => {});
    }
  }

  async #search(order: string, find: () => Promise<readonly Landmark[]>): Promise<void> {
    const { milestones, since } = this.#known;
    const started = performance.now();
    if (milestones.size >= MAX_ORDERS) milestones.clear();
    const looking = find();
    milestones.set(order, looking);
    try {
      milestones.set(order, await looking);
      const now = performance.now();
      this.#known.validMs = Math.min(now - since + VALIDITY_FACTOR * (now - started) + MIN_VALID_MS, MAX_AGE_MS);
    } catch (error) {
      milestones.delete(order);
      throw error;
    }
  }

  /** Records the position of a row. */
  record(order: string, mark: Landmark): void {
    const { marks } = this.#known;
    const ofOrder = marks.get(order) ?? [];
    if (ofOrder.some(({ position }) => position === mark.position)) return;
    ofOrder.push(mark);
    if (ofOrder.length > MAX_MARKS) ofOrder.shift();
    if (!marks.has(order) && marks.size >= MAX_ORDERS) marks.clear();
    marks.set(order, ofOrder);
  }
}
