import { type Condition, Overtaken, type WritePlan } from '../../port.ts';
import { compileRequire } from '../../sql/mutation.ts';
import type { Statement } from '../../sql/writer.ts';
import type { Session } from '../connection/database.ts';
import { numberFor, recordWriter } from '../schema/key-versions.ts';
import { arrayLiteral } from '../sql/arrays.ts';
import { failIf, failUnless, isAssertionFailure } from './sql-assertion.ts';
import type { ExecutorContext } from './write-executor.ts';

/** What these locks have in common, among all advisory locks of a database. */
const LOCKS = 1_919_185_780;

/** What the statements of conditions are made with. */
type ConditionContext = Pick<ExecutorContext, 'schemaName' | 'dialect'>;

/** What the transaction of some writes begins with, so that their conditions hold until its end. */
export interface CompiledConditions {
  readonly statements: readonly Statement[];
  /** Whose condition a statement is, by the writes' places; `undefined` for one of all. */
  writeOf(statement: number): number | undefined;
}

/** What a write locks for its conditions: two writes that lock the same are carried out one after the other. */
export function conditionLocks({ conditions = [] }: WritePlan): string[] {
  return conditions.flatMap((condition) =>
    condition.kind === 'absent' ? [`absent ${condition.key}`] : condition.versions.map(({ slot }) => `slot ${slot}`),
  );
}

/**
 * The statements of the conditions of some writes: one for all locks, in the order of their numbers, so that two processes cannot lock each
 * other out; then one for each condition, which sees what was committed before the locks were had, and fails where it does not hold.
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

/** The locks of several systems are in one database: those of two that have one number wait for each other, which does no harm. */
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

/** Locks what the conditions of a write are about, until the transaction's end. @throws Overtaken where one does not hold */
export async function requireConditions(session: Session, plan: WritePlan, context: ConditionContext): Promise<void> {
  const { statements, writeOf } = compileConditions([plan], context);
  const sent = await Promise.allSettled(statements.map((statement) => session.query(statement)));
  sent.forEach((one, at) => {
    if (one.status === 'rejected') throw writeOf(at) === undefined ? one.reason : overtakenBy(one.reason);
  });
}

/** What it means that the statement of a condition failed so. */
export function overtakenBy(error: unknown): unknown {
  return isAssertionFailure(error) ? new Overtaken() : error;
}
