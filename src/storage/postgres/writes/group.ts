import { serviceError } from '../../../errors/fail.ts';
import type { Schema } from '../../../schema/model.ts';
import { isWatched, uniqueFieldsOf } from '../../../schema/system-tables.ts';
import type { Mutation, WritePlan } from '../../port.ts';
import type { Statement } from '../../sql/writer.ts';
import type { Result } from '../connection/database.ts';
import { compileBulkInsert, haveOneShape, idOf } from './bulk-insert.ts';
import { compileStep, type Step, type StepContext } from './step.ts';

/** Statements of a group that go together, for one write or for several at once. */
export interface Unit {
  /** The writes, by their places in the group. */
  readonly writes: readonly number[];
  readonly statements: readonly Statement[];
  /** As of a step. */
  readonly tail: string | null;
  /** What came of the n-th of its writes. @throws what rejects that write alone */
  outcome(results: readonly Result[], n: number): string;
}

type Of<K extends Mutation['kind']> = Extract<Mutation, { kind: K }>;
/** Writes of one step each, of records that do not depend on each other: their order does not matter. */
interface Run {
  readonly inserts: { at: number; insert: Of<'insert'> }[];
  readonly updates: { at: number; update: Of<'update'>; key: string }[];
  /** Records that are updated so far. */
  readonly updated: Set<string>;
  readonly inserted: Set<string>;
}

/** What names a record among all of a system. */
export function recordKey(className: string, objectId: string): string {
  return `${className}\n${objectId}`;
}

/**
 * The statements that carry out the writes of a group, each write as a whole. Those whose order does not matter are put together: inserts
 * of one shape are one statement, and updates come in the order of their records, so that two processes which change the same records do
 * not wait for each other.
 * @param plans without schema changes and field edits
 */
export function compileGroup(plans: readonly WritePlan[], schema: Schema, context: StepContext): Unit[] {
  const units: Unit[] = [];
  let run = newRun();
  const endRun = () => {
    units.push(...unitsOf(run, schema, context));
    run = newRun();
  };
  plans.forEach(({ mutations }, at) => {
    const [only, ...others] = mutations;
    if (others.length === 0 && only && joins(run, only)) {
      take(run, only, at);
      return;
    }
    endRun();
    if (others.length === 0 && only && joins(run, only)) take(run, only, at);
    else units.push(unitOf(at, mutations, schema, context));
  });
  endRun();
  return units;
}

/** The statements of a write by itself. */
export function unitOf(at: number, mutations: readonly Mutation[], schema: Schema, context: StepContext): Unit {
  const steps = mutations.map((mutation) => compileStep(mutation, schema, context, mutations.length > 1));
  const [only] = steps;
  if (only && steps.length === 1) return ofStep(at, only);
  return {
    writes: [at],
    statements: steps.flatMap(({ statements }) => statements),
    tail: null,
    outcome(results) {
      let returned = '';
      let done = 0;
      for (const { statements, outcome } of steps) {
        returned += outcome(results.slice(done, done + statements.length));
        done += statements.length;
      }
      return returned;
    },
  };
}

const ofStep = (at: number, step: Step): Unit => ({ ...step, writes: [at] });

const newRun = (): Run => ({ inserts: [], updates: [], updated: new Set(), inserted: new Set() });

/** Whether a step may change places with others of its kind. */
export function mayMove(mutation: Mutation | undefined): mutation is Of<'insert' | 'update'> {
  if (mutation?.kind !== 'insert' && mutation?.kind !== 'update') return false;
  // A value that one write frees and another takes.
  return uniqueFieldsOf(mutation.table.className).size === 0;
}

function joins(run: Run, mutation: Mutation): mutation is Of<'insert' | 'update'> {
  if (!mayMove(mutation)) return false;
  if (mutation.kind === 'update') return true;
  const key = recordKey(mutation.table.className, idOf(mutation));
  return !run.updated.has(key) && !run.inserted.has(key);
}

function take(run: Run, mutation: Of<'insert' | 'update'>, at: number): void {
  if (mutation.kind === 'insert') {
    run.inserts.push({ at, insert: mutation });
    run.inserted.add(recordKey(mutation.table.className, idOf(mutation)));
  } else {
    const key = recordKey(mutation.table.className, mutation.objectId);
    run.updates.push({ at, update: mutation, key });
    run.updated.add(key);
  }
}

/** Inserts come first: a record that is changed in the same run is there by then. */
function unitsOf({ inserts, updates }: Run, schema: Schema, context: StepContext): Unit[] {
  const buckets: Run['inserts'][] = [];
  const newest = new Map<string, Run['inserts']>();
  for (const one of inserts) {
    const { className } = one.insert.table;
    // The next shape of a table begins another statement: records come in the order of their creation.
    const bucket = newest.get(className);
    if (bucket?.[0] && haveOneShape(bucket[0].insert, one.insert)) bucket.push(one);
    else {
      const begun = [one];
      buckets.push(begun);
      newest.set(className, begun);
    }
  }
  // Other processes lock the same records in the same order.
  const sorted = updates.toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
  return [
    ...buckets.map((bucket) => insertUnit(bucket, schema, context)),
    ...sorted.map(({ at, update }) => unitOf(at, [update], schema, context)),
  ];
}

function insertUnit(bucket: Run['inserts'], schema: Schema, context: StepContext): Unit {
  const [first] = bucket;
  if (first && bucket.length === 1) return unitOf(first.at, [first.insert], schema, context);
  const statement = compileBulkInsert(
    bucket.map(({ insert }) => insert),
    context.dialect,
  );
  let added: ReadonlySet<unknown> | undefined;
  return {
    writes: bucket.map(({ at }) => at),
    statements: [statement],
    tail: ', ',
    outcome([result], n) {
      if (result?.affected === bucket.length) return '';
      added ??= new Set(result?.rows.map(([id]) => id));
      if (added.has(idOf((bucket[n] as Run['inserts'][number]).insert))) return '';
      throw serviceError('duplicateValue');
    },
  };
}

/** The tables that plans write to. */
export function tablesOf(plans: readonly WritePlan[]): Set<string> {
  const tables = new Set<string>();
  for (const { mutations } of plans) for (const { kind, table } of mutations) if (kind !== 'require') tables.add(table.className);
  return tables;
}

/** Those among them that other processes have to hear of. */
export function watchedAmong(tables: ReadonlySet<string>): string[] {
  return [...tables].filter(isWatched);
}
