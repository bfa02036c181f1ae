import { type Condition, ConditionFailed, type WritePlan } from '../../port.ts';
import { compileRequire } from '../../sql/mutation.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import type { Session } from '../connection/database.ts';
import { numberFor, recordWriter } from '../schema/key-versions.ts';
import { arrayLiteral } from '../sql/arrays.ts';
import { failIf, failUnless, isAssertionFailure } from './sql-assertion.ts';
import type { ExecutorContext } from './write-executor.ts';

/** First key of the advisory locks of conditions, to tell them from all other advisory locks of a database. */
const LOCKS = 1_919_185_780;

/** Services for compiling conditions. */
type ConditionContext = Pick<ExecutorContext, 'schemaName' | 'dialect'>;

/** Statements at the start of a transaction, which make the conditions of its writes hold until its end. */
export interface CompiledConditions {
  readonly statements: readonly Statement[];
  /** Returns the position of the write whose condition a statement is; `undefined` for the lock statement, which serves all. */
  writeOf(statement: number): number | undefined;
}

/** Returns the locks that a write needs for its conditions. Writes with a common lock are executed one after the other. */
export function conditionLocks({ conditions = [] }: WritePlan): string[] {
  return conditions.flatMap((condition) =>
    condition.kind === 'absent' ? [`absent ${condition.key}`] : condition.versions.map(({ slot }) => `slot ${slot}`),
  );
}

/**
 * Compiles the conditions of some writes: one statement takes all locks, in the order of their numbers, so that two processes cannot deadlock; then
 * one statement per condition, which sees everything committed before the locks were taken, and fails if the condition does not hold.
 */
export function compileConditions(plans: readonly WritePlan[], context: ConditionContext): CompiledConditions {
  const locks = [...new Set(plans.flatMap(conditionLocks))];
  if (locks.length === 0) return { statements: [], writeOf: () => undefined };
  const checks = plans.flatMap(({ conditions = [] }, at) =>
    conditions.map((condition) => ({ at, statement: compileCondition(condition, context) })),
  );
  return {
    statements: [lockAll(locks, context.schemaName), ...checks.map(({ statement }) => statement)],
    writeOf: (statement) => checks[statement - 1]?.at,
  };
}

/** Takes the locks. All systems of a database share the number space; a collision only makes two writes wait for each other. */
function lockAll(locks: readonly string[], schemaName: string): Statement {
  const numbers = new Set(locks.map((lock) => numberFor(`${schemaName}\n${lock}`)));
  const text = `SELECT pg_advisory_xact_lock(${LOCKS}, n) FROM unnest($1::integer[]) AS n`;
  return { text, params: [arrayLiteral([...numbers].sort((a, b) => a - b))] };
}

function compileCondition(condition: Condition, { schemaName, dialect }: ConditionContext): Statement {
  if (condition.kind === 'absent') {
    const { text, params } = compileRequire(condition, dialect);
    return { text: `SELECT ${failIf(`EXISTS (${text})`)}`, params };
  }
  const { versions, writer } = condition;
  const { text, params } = recordWriter(schemaName, versions, writer);
  const slots = new Set(versions.map(({ slot }) => slot)).size;
  return {
    text: `WITH noted AS (${text}) SELECT ${failUnless(`(SELECT count(*) FROM noted) = $${params.length + 1}::bigint`)}`,
    params: [...params, slots],
  };
}

/** Locks and checks the conditions of a write until the end of the transaction. @throws ConditionFailed if one does not hold */
export async function requireConditions(session: Session, plan: WritePlan, context: ConditionContext): Promise<void> {
  const { statements, writeOf } = compileConditions([plan], context);
  const sent = await Promise.allSettled(statements.map((statement) => session.query(statement)));
  sent.forEach((one, at) => {
    if (one.status === 'rejected') throw writeOf(at) === undefined ? one.reason : conditionErrorOf(one.reason);
  });
}

/** Maps the error of a condition's statement. */
export function conditionErrorOf(error: unknown): unknown {
  return isAssertionFailure(error) ? new ConditionFailed() : error;
}
