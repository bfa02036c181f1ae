import { setTimeout as wait } from 'node:timers/promises';
import { serviceError } from '../../../errors/fail.ts';
import type { Schema, TableIndex, TableSchema } from '../../../schema/model.ts';
import { fillingIndex } from '../../../schema/search-index.ts';
import type { PreparedWrite, Store } from '../../port.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import { takeLease } from '../cluster/leases.ts';
import type { Database, Session } from '../connection/database.ts';
import { isSchemaStale } from '../connection/map-error.ts';
import { analyzeSearchIndex, buildSearchIndex, buildState } from '../schema/search-index.ts';

/** Interval of polls, in milliseconds. */
const POLL_INTERVAL_MS = 250;
/** Lease of the right to start a build, in milliseconds: longer than it takes until other processes see the build in the database. */
const LEASE_MS = 3_000;

/** Services for filling. */
export interface FillContext {
  readonly store: Pick<Store, 'schema' | 'write' | 'whenCurrent'>;
  readonly database: Database;
  readonly schemaName: string;
  /** Aborted when the store is closed; the database continues what it is doing. */
  readonly closing: AbortSignal;
}

/** Databases on which this process is building an index: one build at a time, since each needs an extra connection and a core of the server. */
const building = new WeakSet<Database>();

/** Implements `Store.fillSearchIndex`: the database builds the index concurrently with writes, started by one process while the others poll. */
export async function fillSearchIndex(context: FillContext, className: string, shouldStop: () => boolean): Promise<void> {
  const { store, database, schemaName, closing } = context;
  for (; !shouldStop(); await wait(POLL_INTERVAL_MS)) {
    if (closing.aborted) throw serviceError('unavailable');
    await store.whenCurrent();
    const found = fillingOf(store.schema(), className);
    if (!found) return;
    const { table, index } = found;
    const state = building.has(database) ? 'under way' : await buildState(database, schemaName, table);
    if (state === 'built') {
      await run(context, analyzeSearchIndex(schemaName, table));
      await store.write(markComplete(className));
      return;
    }
    if (state === 'under way' || !(await takeLease(database, schemaName, `search index ${className}`, LEASE_MS))) continue;
    if (state === 'left') await store.write(resetIndex(className, index));
    // Another call in this process may have started a build meanwhile.
    if (building.has(database)) continue;
    building.add(database);
    const build = run(context, buildSearchIndex(schemaName, table, index)).finally(() => building.delete(database));
    try {
      while (!(await endsSoon(build))) if (shouldStop()) return;
    } catch (error) {
      await store.whenCurrent();
      if (!isSchemaStale(error) || fillingOf(store.schema(), className)?.index === index) throw error;
    }
  }
}

function fillingOf({ tables }: Schema, className: string): { table: TableSchema; index: TableIndex } | undefined {
  const table = tables.get(className);
  const index = table && fillingIndex(table);
  return index ? { table, index } : undefined;
}

/** Leaves the server's other cores to other work, since no caller waits for the build. */
const withoutParallelWorkers: Statement = { text: 'SET max_parallel_maintenance_workers = 0', params: [] };

async function run({ database, schemaName, closing }: FillContext, statement: Statement): Promise<void> {
  const work = async (session: Session) => {
    await session.query(withoutParallelWorkers);
    await session.query(statement);
  };
  await database.dedicated(work, { timeLimit: 0, location: schemaName, until: closing });
}

/** Waits for one interval for the end of a build; returns whether it ended. @throws what it fails with */
const endsSoon = (build: Promise<void>): Promise<boolean> =>
  Promise.race([build.then(() => true), wait(POLL_INTERVAL_MS, false)]);

const markComplete = (className: string): PreparedWrite => ({
  plan: (schema) => ({
    changes: fillingOf(schema, className) ? [{ kind: 'completeSearchIndex', className }] : [],
    mutations: [],
  }),
});

/** Drops the invalid remains of the index, if it is still the one to be filled. */
const resetIndex = (className: string, index: TableIndex): PreparedWrite => ({
  plan: (schema) => {
    const { keys } = fillingOf(schema, className)?.index ?? {};
    const isSame = JSON.stringify(keys) === JSON.stringify(index.keys);
    return { changes: isSame ? [{ kind: 'setIndex', className, index }] : [], mutations: [] };
  },
});
