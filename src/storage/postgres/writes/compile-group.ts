import { serviceError } from '../../../errors/fail.ts';
import type { Schema } from '../../../schema/model.ts';
import { isWatched, uniqueFieldsOf } from '../../../schema/system-tables.ts';
import { joinOutcomes, type Mutation, noOutcome, type WriteOutcome, type WritePlan } from '../../port.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import type { Result } from '../connection/database.ts';
import { compileBulkInsert, haveOneShape, type Inserts, idOf } from './bulk-insert.ts';
import { type CompileContext, type CompiledMutation, compileFolded, compileMutation } from './compile-mutation.ts';
import { canFold, type FoldedStep } from './folded-steps.ts';

/** Statements that belong together, of one write or of several. */
export interface Unit {
  /** Positions of the writes in the group. */
  readonly writes: readonly number[];
  readonly statements: readonly Statement[];
  /** As in `CompiledMutation`. */
  readonly tail: string | null;
  /** Returns the outcome of the n-th of its writes. @throws what rejects that write alone; NotInserted */
  outcome(results: readonly Result[], n: number): WriteOutcome;
  /** As in `CompiledMutation`. */
  mustRetryLocked?(results: readonly Result[]): boolean;
}

type Of<K extends Mutation['kind']> = Extract<Mutation, { kind: K }>;
/** Of a write whose record contradicts one of several unique indexes, and was left out: executed again by itself, it fails with its own error. */
export class NotInserted extends Error {}

/** A run of writes, each one step with its folded steps (folded-steps.ts), of records that do not depend on each other: they may be reordered. */
interface Run {
  readonly inserts: { at: number; inserts: Inserts }[];
  readonly updates: { at: number; mutations: readonly Mutation[]; key: string }[];
  /** Records updated so far. */
  readonly updated: Set<string>;
  readonly inserted: Set<string>;
}

/** Returns a key that identifies a record within a system. */
export function recordKey(className: string, objectId: string): string {
  return `${className}\n${objectId}`;
}

/**
 * Compiles the writes of a group, each write as a whole. Writes whose order does not matter are combined: inserts of one shape become one
 * statement, and updates are ordered by record, so that two processes which change the same records do not deadlock.
 * @param plans without schema changes and field edits
 * @param strict whether the statements themselves must fail if a write fails
 */
export function compileGroup(plans: readonly WritePlan[], schema: Schema, context: CompileContext, strict = false): Unit[] {
  const units: Unit[] = [];
  let run = newRun();
  const endRun = () => {
    units.push(...unitsOf(run, schema, context, strict));
    run = newRun();
  };
  plans.forEach(({ mutations }, at) => {
    if (!canReorder(mutations)) {
      endRun();
      units.push(unitOf(at, mutations, schema, context, strict));
      return;
    }
    if (!canJoinRun(run, mutations)) endRun();
    addToRun(run, mutations, at);
  });
  endRun();
  return units;
}

/** Compiles a single write. @param strict as in `compileGroup` */
export function unitOf(
  at: number,
  mutations: readonly Mutation[],
  schema: Schema,
  context: CompileContext,
  strict = false,
): Unit {
  if (!strict && hasItems(mutations)) return unitOfItems(at, mutations, schema, context);
  const folded = compileFolded(mutations, schema, context, strict);
  const steps = folded ? [folded] : mutations.map((one) => compileMutation(one, schema, context, strict || mutations.length > 1));
  const [only] = steps;
  if (only && steps.length === 1) return ofStep(at, only);
  return {
    writes: [at],
    statements: steps.flatMap(({ statements }) => statements),
    tail: null,
    outcome(results) {
      let all = noOutcome;
      let done = 0;
      for (const { statements, outcome } of steps) {
        all = joinOutcomes(all, outcome(results.slice(done, done + statements.length)));
        done += statements.length;
      }
      return all;
    },
  };
}

/** Whether a write has several records. */
export const hasItems = (mutations: readonly Mutation[]): boolean => mutations.some(({ item }) => (item ?? 0) > 0);

/** Compiles a write of several records: like a group of writes, in which each fails with all others. */
function unitOfItems(at: number, mutations: readonly Mutation[], schema: Schema, context: CompileContext): Unit {
  const units = compileGroup(itemsOf(mutations), schema, context, true);
  return {
    writes: [at],
    statements: units.flatMap(({ statements }) => statements),
    tail: null,
    outcome(results) {
      let all = noOutcome;
      let done = 0;
      for (const { statements, writes, outcome } of units) {
        const own = results.slice(done, done + statements.length);
        done += statements.length;
        writes.forEach((_, n) => {
          all = joinOutcomes(all, outcome(own, n));
        });
      }
      return all;
    },
  };
}

/** Whether the statements of a write lock its records in their order: one run of updates and inserts, each of another record. */
export function locksInOrder(mutations: readonly Mutation[]): boolean {
  if (!hasItems(mutations)) return canReorder(mutations);
  const records = new Set<string>();
  return itemsOf(mutations).every(({ mutations: own }) => {
    if (!canReorder(own)) return false;
    const [main] = own;
    const key = recordKey(main.table.className, main.kind === 'insert' ? idOf(main) : main.objectId);
    const isFirst = !records.has(key);
    records.add(key);
    return isFirst;
  });
}

/** Returns the steps of a write by record, in their order. Steps that belong to none are apart. */
function itemsOf(mutations: readonly Mutation[]): WritePlan[] {
  const items: { changes: readonly never[]; mutations: Mutation[] }[] = [];
  let before: Mutation | undefined;
  for (const one of mutations) {
    if (before && one.item !== undefined && one.item === before.item) items.at(-1)?.mutations.push(one);
    else items.push({ changes: [], mutations: [one] });
    before = one;
  }
  return items;
}

const ofStep = (at: number, step: CompiledMutation): Unit => ({ ...step, writes: [at] });

const newRun = (): Run => ({ inserts: [], updates: [], updated: new Set(), inserted: new Set() });

type Reorderable = Inserts | readonly [Of<'update'>, ...FoldedStep[]];

/** Returns whether a write may be reordered among others of its kind. */
export function canReorder(mutations: readonly Mutation[]): mutations is Reorderable {
  const [main, ...others] = mutations;
  if (main?.kind !== 'insert' && main?.kind !== 'update') return false;
  if (main.kind === 'insert' && main.source) return false;
  // Not with unique values: one write may free a value that another takes.
  if (uniqueFieldsOf(main.table.className).size > 0 || setsUniqueField(main)) return false;
  return canFold(main, others);
}

/** Whether an update sets a field of a unique index. */
function setsUniqueField(main: Of<'insert' | 'update'>): boolean {
  const { uniqueIndexes } = main.table;
  if (uniqueIndexes.size === 0 || main.kind === 'insert') return false;
  return main.assignments.some(({ field }) => uniqueIndexes.values().some(({ fields }) => fields.includes(field.name)));
}

function canJoinRun(run: Run, mutations: Reorderable): boolean {
  if (!isInserts(mutations)) return true;
  return keysOf(mutations).every((key) => !run.updated.has(key) && !run.inserted.has(key));
}

const isInserts = (mutations: Reorderable): mutations is Inserts => mutations[0].kind === 'insert';
const keysOf = (inserts: Inserts) => inserts.map((insert) => recordKey(insert.table.className, idOf(insert)));

function addToRun(run: Run, mutations: Reorderable, at: number): void {
  if (isInserts(mutations)) {
    run.inserts.push({ at, inserts: mutations });
    for (const key of keysOf(mutations)) run.inserted.add(key);
  } else {
    const [{ table, objectId }] = mutations;
    const key = recordKey(table.className, objectId);
    run.updates.push({ at, mutations, key });
    run.updated.add(key);
  }
}

/** Inserts come first, so that a record updated in the same run exists. */
function unitsOf({ inserts, updates }: Run, schema: Schema, context: CompileContext, strict: boolean): Unit[] {
  const buckets: Run['inserts'][] = [];
  const newest = new Map<string, Run['inserts']>();
  for (const one of inserts) {
    const { className } = one.inserts[0].table;
    // Another shape in the same table begins a new statement, to keep the records in the order of their creation.
    const bucket = newest.get(className);
    if (bucket?.[0] && haveOneShape(bucket[0].inserts, one.inserts)) bucket.push(one);
    else {
      const newBucket = [one];
      buckets.push(newBucket);
      newest.set(className, newBucket);
    }
  }
  // All processes lock the same records in the same order.
  const sorted = updates.toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
  return [
    ...buckets.map((bucket) => insertUnit(bucket, schema, context, strict)),
    ...sorted.map(({ at, mutations }) => unitOf(at, mutations, schema, context, strict)),
  ];
}

function insertUnit(bucket: Run['inserts'], schema: Schema, context: CompileContext, strict: boolean): Unit {
  const [first] = bucket;
  if (first && bucket.length === 1) return unitOf(first.at, first.inserts, schema, context, strict);
  const statement = compileBulkInsert(
    bucket.map(({ inserts }) => inserts),
    context.dialect,
    strict,
  );
  let added: ReadonlySet<unknown> | undefined;
  return {
    writes: bucket.map(({ at }) => at),
    statements: [statement],
    tail: context.isCoordinator || (first && first.inserts.length > 1) ? null : ', ',
    outcome([result], n) {
      if (result?.affected === bucket.length) return noOutcome;
      added ??= new Set(result?.rows.map(([id]) => id));
      if (added.has(idOf((bucket[n] as Run['inserts'][number]).inserts[0]))) return noOutcome;
      if (first && first.inserts[0].table.uniqueIndexes.size > 0) throw new NotInserted();
      throw serviceError('duplicateValue');
    },
  };
}

/** Returns the tables that plans write to. */
export function tablesOf(plans: readonly WritePlan[]): Set<string> {
  const tables = new Set<string>();
  for (const { mutations } of plans) for (const { kind, table } of mutations) if (kind !== 'require') tables.add(table.className);
  return tables;
}

/** Returns the watched ones among them, whose changes must be announced to other processes. */
export function watchedAmong(tables: ReadonlySet<string>): string[] {
  return [...tables].filter(isWatched);
}
