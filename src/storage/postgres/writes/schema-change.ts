import { serviceError } from '../../../errors/fail.ts';
import { Contention } from '../../../kernel/contention.ts';
import type { SchemaChange } from '../../../schema/change.ts';
import type { WritePlan } from '../../port.ts';
import { storeInvalidation } from '../cluster/invalidation.ts';
import type { Session } from '../connection/database.ts';
import { CommitUnknown, isLockTimeout, isTooLarge, mapCatalogError, mayRetry, unavailable } from '../connection/map-error.ts';
import { applyChanges } from '../schema/apply-changes.ts';
import { catalogFrom, loadStatement, lockCatalog } from '../schema/catalog.ts';
import type { Version } from '../schema/schema-cache.ts';
import { tablesOf, watchedAmong } from './compile-group.ts';
import { requireConditions } from './conditions.ts';
import { executePlan } from './execute-plan.ts';
import type { QueuedWrite } from './queued-write.ts';
import type { ExecutorContext } from './write-executor.ts';

/** The longest pause until a change is tried again that others were in the way of, and how long it is, in milliseconds. */
const PAUSE_MS = 150;
const LIMIT_MS = 30_000;

/** What a schema change did: a newer schema, and the outcome of its write; no outcome where it turned out to be an ordinary write. */
interface Changed {
  readonly version: Version;
  readonly plan: WritePlan;
  readonly returned?: string;
}

/**
 * Carries out a write that changes the schema, under the lock of the catalogue. Where another process has changed it meanwhile it is planned
 * anew, and left unsettled where it has nothing to change any more. Transactions that come after it wait behind it.
 * @param lockLimit milliseconds that it waits for a lock
 * @throws a lock that was not had in time (55P03), and what else the write is to be rejected with
 */
export async function changeSchema(context: ExecutorContext, write: QueuedWrite, lockLimit: number): Promise<void> {
  const { transactions, known, written } = context;
  const contention = new Contention(LIMIT_MS);
  for (;;)
    try {
      const work = (session: Session) => changeWithin(context, session, write);
      const { version, plan, returned } = await transactions.transact(work, { timeLimit: 0, lockLimit });
      known.adopt(version);
      if (returned === undefined) return;
      written(tablesOf([plan]));
      write.resolve({ returned });
      return;
    } catch (error) {
      if (error instanceof CommitUnknown) {
        written(tablesOf([write.plan]));
        // What is to be told is that it is in doubt.
        await context.reload().catch(() => {});
      }
      if (!mayRetry(error) || isLockTimeout(error)) throw error;
      if (contention.isOver) throw unavailable(error);
      await contention.next(PAUSE_MS, PAUSE_MS);
    }
}

async function changeWithin(context: ExecutorContext, session: Session, write: QueuedWrite): Promise<Changed> {
  const { schemaName, known } = context;
  const { rows } = await session.query(lockCatalog(schemaName)).catch((error) => {
    throw mapCatalogError(error);
  });
  const isKnown = rows[0]?.[0] === known.changes;
  const before = isKnown ? known.version : known.merged(catalogFrom((await session.query(loadStatement(schemaName))).rows));
  const plan = write.plannedUnder === before.schema ? write.plan : write.write.plan(before.schema);
  if (plan.changes.length === 0) return { version: before, plan };
  await requireConditions(session, plan, context);
  const schema = await applyChanges(session, schemaName, plan.changes, before.schema).catch((error) => {
    throw refusalOf(error, plan.changes);
  });
  const returned = await executePlan(session, plan, schema, context);
  await session.query(storeInvalidation(schemaName, { schemaChanged: true, tables: watchedAmong(tablesOf([plan])) }));
  return { version: { schema, changes: before.changes + 1 }, plan, returned };
}

/** PostgreSQL counts columns that were dropped, too. */
function refusalOf(error: unknown, changes: readonly SchemaChange[]): unknown {
  if (!isTooLarge(error)) return error;
  const added = changes.flatMap((change) =>
    change.kind === 'addField' ? change : change.kind === 'createTable' ? (change.fields ?? []) : [],
  );
  return added[0] ? serviceError('fieldCannotBeAdded', added[0].name) : serviceError('valueTooLarge');
}
