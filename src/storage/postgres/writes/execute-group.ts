import { isInDoubt } from '../../../errors/fail.ts';
import { hasEdits } from '../../column-values.ts';
import type { WriteOutcome } from '../../port.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import { commitInvalidation } from '../cluster/invalidation.ts';
import type { Result, Session } from '../connection/database.ts';
import { StatementFailed, unavailable } from '../connection/map-error.ts';
import { compileGroup, hasItems, locksInOrder, NotInserted, tablesOf, type Unit, unitOf, watchedAmong } from './compile-group.ts';
import { type CompiledConditions, compileConditions, conditionErrorOf } from './conditions.ts';
import { failedAt, GroupFailed } from './map-error.ts';
import type { QueuedWrite } from './queued-write.ts';
import { recordLocksOf } from './record-locks.ts';
import { type ResolvedGroup, type ResolvedWrite, resolveGroup } from './resolve-edits.ts';
import { schemaVersionGuard, withSchemaVersionGuard } from './schema-version-guard.ts';
import type { ExecutorContext } from './write-executor.ts';

/** Writes to execute in one transaction. */
export interface GroupExecution extends ExecutorContext {
  readonly group: readonly QueuedWrite[];
  /** Version of the schema they were planned under. */
  readonly changes: number;
  /** Milliseconds that the transaction may wait for a lock. */
  readonly lockLimit: number;
  /** Whether several writes may be combined into one statement. */
  readonly merged: boolean;
}

/** Writes that an execution has left unsettled. */
export interface Unexecuted {
  /** The last writes, untouched, if the edits before them reach the limit of one transaction. */
  readonly rest: readonly QueuedWrite[];
  /** Those that were not inserted (`NotInserted`): to be executed again one by one. */
  readonly left: readonly QueuedWrite[];
}

/**
 * Executes a group in one transaction and settles its writes.
 * @throws GroupFailed, unavailable, CommitUnknown
 */
export async function executeGroup(attempt: GroupExecution): Promise<Unexecuted> {
  const { group, transactions, dialect, lockLimit } = attempt;
  if (!group.some(({ plan }) => hasEdits(plan))) {
    const units = unitsOf(attempt, group);
    const { statements, hasSeparateGuard } = statementsOf(attempt, units);
    const conditions = conditionsOf(attempt);
    const execute = async (locks: readonly Statement[]) => {
      const before = [...conditions.statements, ...locks];
      const work = () => transactions.atomically([...before, ...statements], lockLimit);
      const done = await locateFailure({ group, units, conditions, before: before.length }, work);
      return done.slice(before.length);
    };
    let results = await execute(isUnordered(group, units) ? recordLocksOf(group, dialect) : []);
    if (units.length === 1 && units[0]?.mustRetryLocked?.(results)) results = await execute(recordLocksOf(group, dialect));
    // A statement that returned no row has not evaluated the guard, and has written nothing.
    if (!hasSeparateGuard && results[0]?.rows.length === 0)
      await locateFailure({ group }, () =>
        transactions.atomically([schemaVersionGuard(attempt.schemaName, attempt.changes)], lockLimit),
      ).catch(withKnownOutcome);
    return { rest: [], left: settle(attempt, group, units, results).left };
  }
  let sent: Pick<ResolvedGroup, 'resolved' | 'rest'> | undefined;
  const work = async (session: Session) => {
    const conditions = conditionsOf(attempt);
    await locateFailure({ group, conditions, before: conditions.statements.length }, () =>
      sendAll(session, conditions.statements),
    );
    sent = undefined;
    const { resolved, rest } = await resolveGroup(session, attempt);
    const superseded = supersededBy(group, resolved);
    const kept = group.filter((_, at) => 'plan' in (resolved[at] ?? {}));
    const refused = group.filter((_, at) => 'error' in (resolved[at] ?? {}));
    const plans = resolved.flatMap((one) => ('plan' in one ? [one.plan] : []));
    const units = unitsOf(attempt, kept, plans);
    const statements = [...bodyOf(attempt, units), schemaVersionGuard(attempt.schemaName, attempt.changes)];
    const results = await locateFailure({ group: kept, units, refused, superseded, rest }, () => sendAll(session, statements));
    requireEdits({ group: kept, units, refused, superseded, rest }, results);
    sent = { resolved, rest };
    return { resolved, rest, kept, units, results };
  };
  const done = await transactions.transact(work, { lockLimit }).catch((error) => {
    if (!sent || !isInDoubt(error)) throw error;
    return { ...sent, error: error };
  });
  if ('error' in done) {
    // Writes that were rejected, or left for another transaction, have a known outcome.
    attempt.recordWrites(tablesOf(group.map(({ plan }) => plan)), true);
    done.resolved.forEach((one, at) => {
      group[at]?.reject('error' in one ? one.error : done.error);
    });
    return { rest: done.rest, left: [] };
  }
  done.resolved.forEach((one, at) => {
    if ('error' in one) group[at]?.reject(one.error);
  });
  const { outcomes, left } = settle(attempt, done.kept, done.units, done.results);
  settleSuperseded(group, done.resolved, outcomes);
  return { rest: done.rest, left };
}

/** Settles the superseded writes. Each has the Date before that of the write that was executed for it (`SupersededUpdates`). */
function settleSuperseded(
  group: readonly QueuedWrite[],
  resolved: readonly ResolvedWrite[],
  outcomes: ReadonlyMap<QueuedWrite, WriteOutcome>,
): void {
  const dates = new Map<number, number>();
  resolved.forEach((_, at) => {
    const [update] = outcomes.get(group[at] as QueuedWrite)?.updates ?? [];
    if (update) dates.set(at, update.updatedAt);
  });
  for (let at = resolved.length - 1; at >= 0; at--) {
    const one = resolved[at];
    if (!one || !('by' in one)) continue;
    const { returned } = one;
    const next = dates.get(one.by);
    if (next !== undefined) dates.set(at, next - 1);
    group[at]?.resolve(next === undefined ? { returned } : { returned, updates: [{ item: 0, updatedAt: next - 1, returned }] });
  }
}

/** Maps an unknown outcome of a transaction that wrote nothing to `unavailable`. */
function withKnownOutcome(error: unknown): never {
  throw isInDoubt(error) ? unavailable((error as Error).cause) : error;
}

function unitsOf(attempt: GroupExecution, group: readonly QueuedWrite[], plans = group.map(({ plan }) => plan)): Unit[] {
  const schema = group[0]?.plannedUnder;
  if (!schema) return [];
  if (attempt.merged) return compileGroup(plans, schema, attempt);
  return plans.map(({ mutations }, at) => unitOf(at, mutations, schema, attempt));
}

function bodyOf(attempt: GroupExecution, units: readonly Unit[]): Statement[] {
  const tables = watchedAmong(tablesOf(attempt.group.map(({ plan }) => plan)));
  const statements = units.flatMap((unit) => unit.statements);
  if (tables.length > 0) statements.push(commitInvalidation(attempt, { schemaChanged: false, tables }));
  return statements;
}

function statementsOf(attempt: GroupExecution, units: readonly Unit[]): { statements: Statement[]; hasSeparateGuard: boolean } {
  const { schemaName, changes } = attempt;
  const statements = bodyOf(attempt, units);
  const [unit] = units;
  const checked = statements.length === 1 && unit ? withSchemaVersionGuard(unit, schemaName, changes) : null;
  if (checked) return { statements: [checked], hasSeparateGuard: false };
  return { statements: [...statements, schemaVersionGuard(schemaName, changes)], hasSeparateGuard: true };
}

/** Whether the statements of a group may lock several records, and not in their order (`compileGroup`). */
const isUnordered = (group: readonly QueuedWrite[], units: readonly Unit[]) =>
  (units.length > 1 || group.some(({ plan }) => hasItems(plan.mutations))) &&
  !group.every(({ plan }) => locksInOrder(plan.mutations));

/** Returns the superseded writes, in their order, by the write that is executed for them. */
function supersededBy(group: readonly QueuedWrite[], resolved: readonly ResolvedWrite[]): Map<QueuedWrite, QueuedWrite[]> {
  const superseded = new Map<QueuedWrite, QueuedWrite[]>();
  const last = resolved.map((_, at) => at);
  for (let at = resolved.length - 1; at >= 0; at--) {
    const one = resolved[at];
    if (!one || !('by' in one)) continue;
    const end = last[one.by] as number;
    last[at] = end;
    const by = group[end] as QueuedWrite;
    superseded.set(by, [group[at] as QueuedWrite, ...(superseded.get(by) ?? [])]);
  }
  return superseded;
}

/**
 * Checks edits that later ones are computed from. If a record rejects such an edit after all, because of its size, the values computed from it are
 * void, and so are superseded writes.
 * @throws GroupFailed
 */
function requireEdits(
  { group, units = [], refused = [], superseded = new Map(), rest = [] }: StatementOwners,
  results: readonly Result[],
): void {
  let first = 0;
  for (const { statements, writes, outcome } of units) {
    const own = results.slice(first, first + statements.length);
    first += statements.length;
    const [at] = writes;
    const write = group[at ?? 0];
    if (at === undefined || !write || !hasEdits(write.plan) || !(isBuiltOn(group, at) || superseded.has(write))) continue;
    try {
      outcome(own, 0);
    } catch (error) {
      const all = (writes: readonly QueuedWrite[]) => withSuperseded(writes, superseded);
      throw new GroupFailed(error, [refused, all(group.slice(0, at)), all([write]), all(group.slice(at + 1)), rest], 2);
    }
  }
}

/** Returns writes, each preceded by those it supersedes. */
const withSuperseded = (
  writes: readonly QueuedWrite[],
  superseded: ReadonlyMap<QueuedWrite, readonly QueuedWrite[]>,
): QueuedWrite[] => writes.flatMap((write) => [...(superseded.get(write) ?? []), write]);

/** Whether later writes of a group change the records of this one. */
function isBuiltOn(group: readonly QueuedWrite[], at: number): boolean {
  const records = new Set(group[at]?.records);
  return group.slice(at + 1).some((later) => later.records.some((record) => records.has(record)));
}

/** Sends statements without awaiting each. @throws StatementFailed, with the index of the failed one */
async function sendAll(session: Session, statements: readonly Statement[]): Promise<Result[]> {
  const sent = await Promise.allSettled(statements.map((statement) => session.query(statement)));
  return sent.map((one, index) => {
    if (one.status === 'rejected') throw new StatementFailed(index, one.reason);
    return one.value;
  });
}

/** The writes to which the statements of a transaction belong. */
interface StatementOwners {
  readonly group: readonly QueuedWrite[];
  readonly units?: readonly Unit[];
  /** Conditions, whose statements come first. */
  readonly conditions?: CompiledConditions;
  /** Number of statements before those of the units: conditions and locks. */
  readonly before?: number;
  /** Rejected writes, which have no statements. Each is the first of the group to its record, so it comes first when they are executed again. */
  readonly refused?: readonly QueuedWrite[];
  /** Superseded writes, by those that are executed for them. */
  readonly superseded?: ReadonlyMap<QueuedWrite, readonly QueuedWrite[]>;
  /** Writes left for another transaction. */
  readonly rest?: readonly QueuedWrite[];
}

/** Determines to which writes a failed statement belongs. @throws GroupFailed */
async function locateFailure(
  { group, units = [], conditions, before = 0, refused = [], superseded = new Map(), rest = [] }: StatementOwners,
  work: () => Promise<Result[]>,
): Promise<readonly Result[]> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StatementFailed)) throw error;
    const overtaken = conditions?.writeOf(error.index);
    if (overtaken !== undefined) throw failedAt(group, overtaken, conditionErrorOf(error.cause));
    let first = before;
    const parts = [
      refused,
      ...units.map((unit) =>
        withSuperseded(
          unit.writes.map((at) => group[at] as QueuedWrite),
          superseded,
        ),
      ),
      rest,
    ];
    const at = units.findIndex(({ statements }) => {
      first += statements.length;
      return error.index < first;
    });
    // A lock, the notification, the guard or the commit: not a single write's statement.
    if (at < 0 || error.index < before) throw new GroupFailed(error.cause, [...parts, []], parts.length);
    throw new GroupFailed(error.cause, parts, at + 1);
  }
}

const conditionsOf = (attempt: GroupExecution): CompiledConditions =>
  compileConditions(
    attempt.group.map(({ plan }) => plan),
    attempt,
  );

/** Settles each write after the transaction is durable. @returns the outcomes of those that were done; those that were not executed (`NotInserted`) */
function settle(
  { recordWrites }: GroupExecution,
  group: readonly QueuedWrite[],
  units: readonly Unit[],
  results: readonly Result[],
): { readonly outcomes: ReadonlyMap<QueuedWrite, WriteOutcome>; readonly left: readonly QueuedWrite[] } {
  const outcomes = new Map<QueuedWrite, WriteOutcome>();
  recordWrites(tablesOf(group.map(({ plan }) => plan)));
  const left: QueuedWrite[] = [];
  let first = 0;
  for (const unit of units) {
    const own = results.slice(first, first + unit.statements.length);
    first += unit.statements.length;
    unit.writes.forEach((at, n) => {
      const write = group[at] as QueuedWrite;
      try {
        const outcome = unit.outcome(own, n);
        outcomes.set(write, outcome);
        write.resolve(outcome);
      } catch (error) {
        if (error instanceof NotInserted) left.push(write);
        else write.reject(error);
      }
    });
  }
  return { outcomes, left };
}
