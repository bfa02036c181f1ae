import { isInDoubt } from '../../../errors/fail.ts';
import type { Statement } from '../../sql/writer.ts';
import { storeInvalidation } from '../cluster/invalidation.ts';
import type { Result, Session } from '../connection/database.ts';
import { StatementFailed, unavailable } from '../connection/map-error.ts';
import { compileGroup, mayMove, tablesOf, type Unit, unitOf, watchedAmong } from './compile-group.ts';
import { type CompiledConditions, compileConditions, overtakenBy } from './conditions.ts';
import { hasEdits } from './json-updates.ts';
import { failedAt, GroupFailed } from './map-error.ts';
import type { QueuedWrite } from './queued-write.ts';
import { recordLocksOf } from './record-locks.ts';
import { schemaVersionGuard, withSchemaVersionGuard } from './schema-version-guard.ts';
import { type Settled, type SettledGroup, settleGroup } from './settle-updates.ts';
import type { ExecutorContext } from './write-executor.ts';

/** Writes to be carried out in one transaction. */
export interface GroupExecution extends ExecutorContext {
  readonly group: readonly QueuedWrite[];
  /** The schema's count of changes when they were planned. */
  readonly changes: number;
  /** Milliseconds that the transaction may wait for a lock. */
  readonly lockLimit: number;
  /** Whether several of them may be one statement. */
  readonly merged: boolean;
}

/**
 * Carries out a group in one transaction, and settles its writes.
 * @returns the last ones, untouched, where the edits before them are as much as a transaction holds
 * @throws GroupFailed, unavailable, CommitUnknown
 */
export async function executeGroup(attempt: GroupExecution): Promise<readonly QueuedWrite[]> {
  const { group, transactions, dialect, lockLimit } = attempt;
  if (!group.some(({ plan }) => hasEdits(plan))) {
    const units = unitsOf(attempt, group);
    const { statements, isApart } = statementsOf(attempt, units);
    const conditions = conditionsOf(attempt);
    const execute = async (locks: readonly Statement[]) => {
      const before = [...conditions.statements, ...locks];
      const work = () => transactions.atomically([...before, ...statements], lockLimit);
      const done = await located({ group, units, conditions, before: before.length }, work);
      return done.slice(before.length);
    };
    let results = await execute(units.length > 1 && !isOrdered(group) ? recordLocksOf(group, dialect) : []);
    if (units.length === 1 && units[0]?.isTooEarly?.(results)) results = await execute(recordLocksOf(group, dialect));
    // A statement that returned no row has checked nothing, and done nothing.
    if (!isApart && results[0]?.rows.length === 0)
      await located({ group }, () =>
        transactions.atomically([schemaVersionGuard(attempt.schemaName, attempt.changes)], lockLimit),
      ).catch(ofNothing);
    settle(attempt, group, units, results);
    return [];
  }
  let sent: Pick<SettledGroup, 'settled' | 'rest'> | undefined;
  const work = async (session: Session) => {
    const conditions = conditionsOf(attempt);
    await located({ group, conditions, before: conditions.statements.length }, () => sendAll(session, conditions.statements));
    sent = undefined;
    const { settled, rest } = await settleGroup(session, attempt);
    const covered = coveredBy(group, settled);
    const kept = group.filter((_, at) => 'plan' in (settled[at] ?? {}));
    const refused = group.filter((_, at) => 'error' in (settled[at] ?? {}));
    const plans = settled.flatMap((one) => ('plan' in one ? [one.plan] : []));
    const units = unitsOf(attempt, kept, plans);
    const statements = [...bodyOf(attempt, units), schemaVersionGuard(attempt.schemaName, attempt.changes)];
    const results = await located({ group: kept, units, refused, covered, rest }, () => sendAll(session, statements));
    requireEdits({ group: kept, units, refused, covered, rest }, results);
    sent = { settled, rest };
    return { settled, rest, kept, units, results };
  };
  const done = await transactions.transact(work, { lockLimit }).catch((error) => {
    if (!sent || !isInDoubt(error)) throw error;
    return { ...sent, doubt: error };
  });
  if ('doubt' in done) {
    // Those that were refused, or left for another transaction, are not in doubt.
    attempt.written(tablesOf(group.map(({ plan }) => plan)));
    done.settled.forEach((one, at) => {
      group[at]?.reject('error' in one ? one.error : done.doubt);
    });
    return done.rest;
  }
  done.settled.forEach((one, at) => {
    if ('error' in one) group[at]?.reject(one.error);
    else if ('by' in one) group[at]?.resolve({ returned: one.returned });
  });
  settle(attempt, done.kept, done.units, done.results);
  return done.rest;
}

/** What has written nothing is not in doubt. */
function ofNothing(error: unknown): never {
  throw isInDoubt(error) ? unavailable((error as Error).cause) : error;
}

function unitsOf(attempt: GroupExecution, group: readonly QueuedWrite[], plans = group.map(({ plan }) => plan)): Unit[] {
  const schema = group[0]?.plannedUnder;
  if (!schema) return [];
  if (attempt.merged) return compileGroup(plans, schema, attempt);
  return plans.map(({ mutations }, at) => unitOf(at, mutations, schema, attempt));
}

function bodyOf({ group, schemaName }: GroupExecution, units: readonly Unit[]): Statement[] {
  const tables = watchedAmong(tablesOf(group.map(({ plan }) => plan)));
  const statements = units.flatMap((unit) => unit.statements);
  if (tables.length > 0) statements.push(storeInvalidation(schemaName, { schemaChanged: false, tables }));
  return statements;
}

function statementsOf(attempt: GroupExecution, units: readonly Unit[]): { statements: Statement[]; isApart: boolean } {
  const { schemaName, changes } = attempt;
  const statements = bodyOf(attempt, units);
  const [unit] = units;
  const checked = statements.length === 1 && unit ? withSchemaVersionGuard(unit, schemaName, changes) : null;
  if (checked) return { statements: [checked], isApart: false };
  return { statements: [...statements, schemaVersionGuard(schemaName, changes)], isApart: true };
}

/** Whether the statements of a group lock its records in their order by themselves (`compileGroup`). */
const isOrdered = (group: readonly QueuedWrite[]) => group.every(({ plan }) => mayMove(plan.mutations));

/** The writes that are not carried out themselves, in their order, by the one that is carried out for them. */
function coveredBy(group: readonly QueuedWrite[], settled: readonly Settled[]): Map<QueuedWrite, QueuedWrite[]> {
  const covered = new Map<QueuedWrite, QueuedWrite[]>();
  const last = settled.map((_, at) => at);
  for (let at = settled.length - 1; at >= 0; at--) {
    const one = settled[at];
    if (!one || !('by' in one)) continue;
    const end = last[one.by] as number;
    last[at] = end;
    const by = group[end] as QueuedWrite;
    covered.set(by, [group[at] as QueuedWrite, ...(covered.get(by) ?? [])]);
  }
  return covered;
}

/**
 * An edit is computed from what those before it in the group make of the record. Where the record refuses one of these after all, by its
 * size, what was computed from it is void; so are those that were to be carried out with it.
 * @throws GroupFailed
 */
function requireEdits(
  { group, units = [], refused = [], covered = new Map(), rest = [] }: Located,
  results: readonly Result[],
): void {
  let first = 0;
  for (const { statements, writes, outcome } of units) {
    const own = results.slice(first, first + statements.length);
    first += statements.length;
    const [at] = writes;
    const write = group[at ?? 0];
    if (at === undefined || !write || !hasEdits(write.plan) || !(isBuiltOn(group, at) || covered.has(write))) continue;
    try {
      outcome(own, 0);
    } catch (error) {
      const all = (writes: readonly QueuedWrite[]) => withCovered(writes, covered);
      throw new GroupFailed(error, [refused, all(group.slice(0, at)), all([write]), all(group.slice(at + 1)), rest], 2);
    }
  }
}

/** Writes, each after those that it is carried out for. */
const withCovered = (writes: readonly QueuedWrite[], covered: ReadonlyMap<QueuedWrite, readonly QueuedWrite[]>): QueuedWrite[] =>
  writes.flatMap((write) => [...(covered.get(write) ?? []), write]);

/** Whether later writes of a group are to the records of one. */
function isBuiltOn(group: readonly QueuedWrite[], at: number): boolean {
  const records = new Set(group[at]?.records);
  return group.slice(at + 1).some((later) => later.records.some((record) => records.has(record)));
}

/** @throws StatementFailed, which says which one */
async function sendAll(session: Session, statements: readonly Statement[]): Promise<Result[]> {
  const sent = await Promise.allSettled(statements.map((statement) => session.query(statement)));
  return sent.map((one, index) => {
    if (one.status === 'rejected') throw new StatementFailed(index, one.reason);
    return one.value;
  });
}

/** What the statements of a transaction are of. */
interface Located {
  readonly group: readonly QueuedWrite[];
  readonly units?: readonly Unit[];
  /** Which come first. */
  readonly conditions?: CompiledConditions;
  /** Statements before those of the units: those of the conditions, and locks. */
  readonly before?: number;
  /** Writes without statements; each is the first of the group to its record, so that it comes first when they are run again. */
  readonly refused?: readonly QueuedWrite[];
  /** Writes that others are carried out for, by these. */
  readonly covered?: ReadonlyMap<QueuedWrite, readonly QueuedWrite[]>;
  /** Writes that are left for another transaction. */
  readonly rest?: readonly QueuedWrite[];
}

/** Says of a failed statement which writes it was of. @throws GroupFailed */
async function located(
  { group, units = [], conditions, before = 0, refused = [], covered = new Map(), rest = [] }: Located,
  work: () => Promise<Result[]>,
): Promise<readonly Result[]> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StatementFailed)) throw error;
    const overtaken = conditions?.writeOf(error.index);
    if (overtaken !== undefined) throw failedAt(group, overtaken, overtakenBy(error.cause));
    let first = before;
    const parts = [
      refused,
      ...units.map((unit) =>
        withCovered(
          unit.writes.map((at) => group[at] as QueuedWrite),
          covered,
        ),
      ),
      rest,
    ];
    const at = units.findIndex(({ statements }) => {
      first += statements.length;
      return error.index < first;
    });
    // A lock, the notice, the check or the commit: no write of its own.
    if (at < 0 || error.index < before) throw new GroupFailed(error.cause, [...parts, []], parts.length);
    throw new GroupFailed(error.cause, parts, at + 1);
  }
}

const conditionsOf = (attempt: GroupExecution): CompiledConditions =>
  compileConditions(
    attempt.group.map(({ plan }) => plan),
    attempt,
  );

/** Tells each write, once the transaction is durable, what came of it. */
function settle(
  { written }: GroupExecution,
  group: readonly QueuedWrite[],
  units: readonly Unit[],
  results: readonly Result[],
): void {
  written(tablesOf(group.map(({ plan }) => plan)));
  let first = 0;
  for (const unit of units) {
    const own = results.slice(first, first + unit.statements.length);
    first += unit.statements.length;
    unit.writes.forEach((at, n) => {
      const write = group[at] as QueuedWrite;
      try {
        write.resolve({ returned: unit.outcome(own, n) });
      } catch (error) {
        write.reject(error);
      }
    });
  }
}
