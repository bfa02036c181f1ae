import type { Store } from '../../port.ts';
import { storeWithin } from '../../store-within.ts';
import type { Session } from '../connection/database.ts';
import { unavailable } from '../connection/map-error.ts';
import { catalogFrom, loadStatement } from '../schema/catalog.ts';
import { SchemaCache, type Version } from '../schema/schema-cache.ts';
import { savepoints } from './transaction.ts';
import { type ExecutorContext, WriteExecutor } from './write-executor.ts';
import { WriteQueue } from './write-queue.ts';

/** Maximum writes that share a savepoint: as many as arrive in one turn of the event loop. */
const MAX_GROUP = 2_000;

/** Result of a bulk transaction. */
export interface BulkResult<T> {
  readonly result: T;
  readonly version: Version;
  /** Tables written to. */
  readonly tables: ReadonlySet<string>;
}

/**
 * Passes `work` a store that writes inside the session's transaction, with a savepoint for each group of writes.
 * @param outer the store of the system; its schema cache stays unchanged until the commit
 */
export async function bulkTransaction<T>(
  session: Session,
  outer: Store,
  context: Pick<ExecutorContext, 'schemaName' | 'dialect' | 'isCoordinator' | 'addresses' | 'schemaCache' | 'mapFault'>,
  work: (store: Store) => Promise<T>,
): Promise<BulkResult<T>> {
  const schemaCache = new SchemaCache(context.schemaCache.version);
  const tables = new Set<string>();
  const executor = new WriteExecutor({
    ...context,
    schemaCache,
    transactions: savepoints(session),
    // Not needed: the options of the transaction limit its waits.
    query: async () => [],
    async reloadSchema() {
      schemaCache.adopt(schemaCache.merged(catalogFrom((await session.query(loadStatement(context.schemaName))).rows)));
    },
    recordWrites(written) {
      for (const table of written) tables.add(table);
    },
  });
  const queue = new WriteQueue(executor, {
    maxGroupSize: MAX_GROUP,
    maxConcurrentGroups: 1,
    maxHeldMs: Number.POSITIVE_INFINITY,
    timeoutError: unavailable,
  });
  const within = storeWithin(outer, {
    schema: () => schemaCache.schema,
    whenCurrent: async () => {},
    write: async (write) => queue.add(write, write.plan(schemaCache.schema), schemaCache.schema),
  });
  try {
    const result = await work(within);
    return { result, version: schemaCache.version, tables };
  } finally {
    // The transaction must not end while writes are pending.
    await queue.whenIdle();
  }
}
