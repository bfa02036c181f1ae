import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import { grantFor, type Principal } from '../../../access/index.ts';
import type { CrmContext } from '../../../crm/context.ts';
import { canonicalJson, type JsonObject } from '../../../kernel/json.ts';
import { SECOND_MS } from '../../../kernel/time.ts';
import type { Schema } from '../../../schema/model.ts';
import type { Place } from './seek.ts';

/** A row of a known position. */
export interface Landmark {
  readonly position: number;
  readonly place: Place;
  /** Whether the place is no row's, but between the row of that position and the next. */
  readonly isBetween?: true;
}

/** What is known of the records of a table that match a `where`, as a caller has them. */
interface Known {
  readonly principal: Principal;
  readonly schema: Schema;
  readonly version: number;
  /** By `performance.now()`. */
  readonly since: number;
  total?: number;
  /** The version of the table that was the caller's as a whole; left out where some records are not his. */
  wholeVersion?: number | undefined;
  /** By order: rows that were read. */
  readonly marks: Map<string, Landmark[]>;
  /** By order: rows all over the table, or those that look for them. */
  readonly milestones: Map<string, readonly Landmark[] | Promise<readonly Landmark[]>>;
  /** For so long all that stands. */
  freshMs: number;
}

const MAX_KNOWN = 200;
const MAX_ORDERS = 4;
const MAX_MARKS = 32;
const MAX_WHERE_LENGTH = 10_000;
/** For so long positions may be off by the writes of a moment, whatever is written: a table that is written to all the time would have none. */
const FRESH_MS = 15 * SECOND_MS;
/** And for so long where no write is known of. */
const MAX_AGE_MS = 120 * SECOND_MS;
/** What took long to find is kept for so many times as long. */
const TIMES_KEPT = 20;

const known = new LRUCache<string, Known>({ max: MAX_KNOWN });

/**
 * Notes where rows are that were read, so that a jump to a distant position goes from the nearest of them. Of a process; positions are of a
 * moment, as any that are counted off.
 */
export class Landmarks {
  readonly #known: Known;
  readonly #version: () => number;

  private constructor(of: Known, version: () => number) {
    this.#known = of;
    this.#version = version;
  }

  /** Those of a caller, a table and a `where`; `null` where the caller does not count what he finds. */
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
      if (age < before.freshMs || (age < MAX_AGE_MS && before.version === version)) return new Landmarks(before, versionNow);
    }
    const fresh: Known = { principal, schema, version, since: now, marks: new Map(), milestones: new Map(), freshMs: FRESH_MS };
    known.set(key, fresh);
    return new Landmarks(fresh, versionNow);
  }

  get total(): number | undefined {
    return this.#known.total;
  }

  /** Whether those were all that the table had when they were counted. */
  get wasWhole(): boolean {
    return this.#known.wholeVersion !== undefined;
  }

  /** Whether they are: nothing was written since. What has come since may not be his. */
  get isWhole(): boolean {
    return this.#known.wholeVersion === this.#version();
  }

  /** Counts the records. @param countAll tells their number, and whether the table has no others */
  async count(countAll: () => Promise<{ total: number; isWhole: boolean }>): Promise<number> {
    const version = this.#version();
    const { total, isWhole } = await countAll();
    Object.assign(this.#known, { total, wholeVersion: isWhole ? version : undefined });
    return total;
  }

  /** The rows of an order whose positions are known. */
  marks(order: string): readonly Landmark[] {
    const milestones = this.#known.milestones.get(order);
    return [...(this.#known.marks.get(order) ?? []), ...(milestones instanceof Promise ? [] : (milestones ?? []))];
  }

  /** Notes rows all over the table. Of callers at the same time one looks for them; where that fails the next one does. @param find looks for them */
  async placeMilestones(order: string, find: () => Promise<readonly Landmark[]>): Promise<void> {
    const { milestones } = this.#known;
    for (;;) {
      const found = milestones.get(order);
      if (!found) return this.#look(order, find);
      if (!(found instanceof Promise)) return;
      await found.catch(() => {});
    }
  }

  async #look(order: string, find: () => Promise<readonly Landmark[]>): Promise<void> {
    const { milestones, since } = this.#known;
    const started = performance.now();
    if (milestones.size >= MAX_ORDERS) milestones.clear();
    const looking = find();
    milestones.set(order, looking);
    try {
      milestones.set(order, await looking);
      const now = performance.now();
      this.#known.freshMs = Math.min(now - since + TIMES_KEPT * (now - started) + FRESH_MS, MAX_AGE_MS);
    } catch (error) {
      milestones.delete(order);
      throw error;
    }
  }

  /** Notes the position of a row. */
  passed(order: string, mark: Landmark): void {
    const { marks } = this.#known;
    const ofOrder = marks.get(order) ?? [];
    if (ofOrder.some(({ position }) => position === mark.position)) return;
    ofOrder.push(mark);
    if (ofOrder.length > MAX_MARKS) ofOrder.shift();
    if (!marks.has(order) && marks.size >= MAX_ORDERS) marks.clear();
    marks.set(order, ofOrder);
  }
}
