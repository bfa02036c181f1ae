import type { Store } from '../../port.ts';
import { storeWithin } from '../../store-within.ts';
import type { Session } from '../connection/database.ts';
import { unavailable } from '../connection/map-error.ts';
import { catalogFrom, loadStatement } from '../schema/catalog.ts';
import { SchemaCache, type Version } from '../schema/schema-cache.ts';
import { savepoints } from './transaction.ts';
import { type ExecutorContext, WriteExecutor } from './write-executor.ts';
import { WriteQueue } from './write-queue.ts';

/** Writes that share a savepoint: as many as are asked for in one turn. */
const MAX_GROUP = 2_000;

/** What was done in one commit. */
export interface BulkResult<T> {
  readonly result: T;
  readonly version: Version;
  /** Tables that were written to. */
  readonly tables: ReadonlySet<string>;
}

/**
 * Hands `work` a store that writes inside the session's transaction, a savepoint for each group of writes.
 * @param outer the store whose it is; what it knows of the schema stays as it is until the commit
 */
export async function bulkTransaction<T>(
  session: Session,
  outer: Store,
  context: Pick<ExecutorContext, 'schemaName' | 'dialect' | 'addresses' | 'known' | 'rejection'>,
  work: (store: Store) => Promise<T>,
): Promise<BulkResult<T>> {
  const known = new SchemaCache(context.known.version);
  const tables = new Set<string>();
  const executor = new WriteExecutor({
    ...context,
    known,
    transactions: savepoints(session),
    // The options of the transaction say how long it may wait.
    look: async () => [],
    async reload() {
      known.adopt(known.merged(catalogFrom((await session.query(loadStatement(context.schemaName))).rows)));
    },
    written(written) {
      for (const table of written) tables.add(table);
    },
  });
  const queue = new WriteQueue(executor, {
    maxGroup: MAX_GROUP,
    maxGroups: 1,
    maxHeldMs: Number.POSITIVE_INFINITY,
    tooLong: unavailable,
  });
  const within = storeWithin(outer, {
    schema: () => known.schema,
    whenCurrent: async () => {},
    write: async (write) => queue.add(write, write.plan(known.schema), known.schema),
  });
  try {
    const result = await work(within);
    return { result, version: known.version, tables };
  } finally {
    // A transaction does not end while writes of it are under way.
    await queue.whenIdle();
  }
}
