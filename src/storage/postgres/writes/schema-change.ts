import { serviceError } from '../../../errors/fail.ts';
import { Contention } from '../../../kernel/contention.ts';
import type { SchemaChange } from '../../../schema/change.ts';
import type { WriteOutcome, WritePlan } from '../../port.ts';
import { commitInvalidation } from '../cluster/invalidation.ts';
import type { Session } from '../connection/database.ts';
import { CommitUnknown, isLockTimeout, mapCatalogError, mayRetry, unavailable } from '../connection/map-error.ts';
import { isTooLarge } from '../connection/value-errors.ts';
import { applyChanges } from '../schema/apply-changes.ts';
import { catalogFrom, loadStatement, lockCatalog } from '../schema/catalog.ts';
import type { Version } from '../schema/schema-cache.ts';
import { tablesOf, watchedAmong } from './compile-group.ts';
import { requireConditions } from './conditions.ts';
import { executePlan } from './execute-plan.ts';
import type { QueuedWrite } from './queued-write.ts';
import type { ExecutorContext } from './write-executor.ts';

/** Maximum delay between attempts of a change after conflicts, and the time limit of all attempts, in milliseconds. */
const RETRY_DELAY_MS = 150;
const MAX_RETRY_MS = 30_000;

/** Result of a schema change: a newer schema and the outcome of its write; no outcome if it turned out to be an ordinary write. */
interface Changed {
  readonly version: Version;
  readonly plan: WritePlan;
  readonly outcome?: WriteOutcome;
}

/**
 * Executes a write that changes the schema, under the lock of the catalogue. If another process has changed the schema meanwhile, it is planned
 * again, and left unsettled if nothing remains to change. Later transactions queue behind its lock requests.
 * @param lockLimit milliseconds that it waits for a lock
 * @throws a lock timeout (55P03), and any other error to reject the write with
 */
export async function changeSchema(context: ExecutorContext, write: QueuedWrite, lockLimit: number): Promise<void> {
  const { transactions, schemaCache, recordWrites } = context;
  const contention = new Contention(MAX_RETRY_MS);
  for (;;)
    try {
      const work = (session: Session) => changeWithin(context, session, write);
      const { version, plan, outcome } = await transactions.transact(work, { timeLimit: 0, lockLimit });
      schemaCache.adopt(version);
      if (outcome === undefined) return;
      recordWrites(tablesOf([plan]));
      write.resolve(outcome);
      return;
    } catch (error) {
      if (error instanceof CommitUnknown) {
        recordWrites(tablesOf([write.plan]), true);
        // Report the unknown outcome even if the reload fails.
        await context.reloadSchema().catch(() => {});
      }
      if (!mayRetry(error) || isLockTimeout(error)) throw error;
      if (contention.isOver) throw unavailable(error);
      await contention.next(RETRY_DELAY_MS, RETRY_DELAY_MS);
    }
}

async function changeWithin(context: ExecutorContext, session: Session, write: QueuedWrite): Promise<Changed> {
  const { schemaName, schemaCache } = context;
  const { rows } = await session.query(lockCatalog(schemaName)).catch((error) => {
    throw mapCatalogError(error);
  });
  const isKnown = rows[0]?.[0] === schemaCache.changes;
  const before = isKnown
    ? schemaCache.version
    : schemaCache.merged(catalogFrom((await session.query(loadStatement(schemaName))).rows));
  const plan = write.plannedUnder === before.schema ? write.plan : write.write.plan(before.schema);
  if (plan.changes.length === 0) return { version: before, plan };
  await requireConditions(session, plan, context);
  const schema = await applyChanges(session, schemaName, plan.changes, before.schema).catch((error) => {
    throw refusalOf(error, plan.changes);
  });
  const outcome = await executePlan(session, plan, schema, context);
  await session.query(commitInvalidation(context, { schemaChanged: true, tables: watchedAmong(tablesOf([plan])) }));
  return { version: { schema, changes: before.changes + 1 }, plan, outcome };
}

/** PostgreSQL counts dropped columns too, so the limit of columns can be hit earlier. */
function refusalOf(error: unknown, changes: readonly SchemaChange[]): unknown {
  if (!isTooLarge(error)) return error;
  const added = changes.flatMap((change) =>
    change.kind === 'addField' ? change : change.kind === 'createTable' ? (change.fields ?? []) : [],
  );
  return added[0] ? serviceError('fieldCannotBeAdded', added[0].name) : serviceError('valueTooLarge');
}
