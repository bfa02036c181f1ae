import { setTimeout as wait } from 'node:timers/promises';
import { serviceError } from '../../../errors/fail.ts';
import type { Schema, TableIndex, TableSchema } from '../../../schema/model.ts';
import { fillingIndex } from '../../../schema/search-index.ts';
import type { PreparedWrite, Store } from '../../port.ts';
import type { Statement } from '../../sql/writer.ts';
import { takeLease } from '../cluster/leases.ts';
import type { Database, Session } from '../connection/database.ts';
import { isSchemaStale } from '../connection/map-error.ts';
import { analyzeSearchIndex, buildSearchIndex, buildState } from '../schema/search-index.ts';

/** Milliseconds between two looks. */
const LOOK_MS = 250;
/** Milliseconds for which one process alone may begin: longer than it takes until the others see in the database that it has. */
const LEASE_MS = 3_000;

/** What it works with. */
export interface FillContext {
  readonly store: Pick<Store, 'schema' | 'write' | 'whenCurrent'>;
  readonly database: Database;
  readonly schemaName: string;
  /** Aborted when the store is closed: the database goes on with what it does. */
  readonly closing: AbortSignal;
}

/** Connections on which an index is made: one at a time, since each takes a connection more, and a core of the server. */
const busy = new WeakSet<Database>();

/** As of `Store.fillSearchIndex`: the database makes the index beside others' writes, for one of the processes; the others look on. */
export async function fillSearchIndex(context: FillContext, className: string, isEnough: () => boolean): Promise<void> {
  const { store, database, schemaName, closing } = context;
  for (; !isEnough(); await wait(LOOK_MS)) {
    if (closing.aborted) throw serviceError('unavailable');
    await store.whenCurrent();
    const found = fillingOf(store.schema(), className);
    if (!found) return;
    const { table, index } = found;
    const state = busy.has(database) ? 'under way' : await buildState(database, schemaName, table);
    if (state === 'built') {
      await run(context, analyzeSearchIndex(schemaName, table));
      await store.write(complete(className));
      return;
    }
    if (state === 'under way' || !(await takeLease(database, schemaName, `search index ${className}`, LEASE_MS))) continue;
    if (state === 'left') await store.write(anew(className, index));
    // Somebody else's began meanwhile.
    if (busy.has(database)) continue;
    busy.add(database);
    const build = run(context, buildSearchIndex(schemaName, table, index)).finally(() => busy.delete(database));
    try {
      while (!(await isOver(build))) if (isEnough()) return;
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

/** Others have the rest of the server: what nobody waits for has no parallel workers. */
const onOneCore: Statement = { text: 'SET max_parallel_maintenance_workers = 0', params: [] };

async function run({ database, closing }: FillContext, statement: Statement): Promise<void> {
  const work = async (session: Session) => {
    await session.query(onOneCore);
    await session.query(statement);
  };
  await database.onSeparateConnection(work, 0, closing);
}

/** Waits a moment for the end of a build. @throws what it fails with */
const isOver = (build: Promise<void>): Promise<boolean> => Promise.race([build.then(() => true), wait(LOOK_MS, false)]);

const complete = (className: string): PreparedWrite => ({
  plan: (schema) => ({
    changes: fillingOf(schema, className) ? [{ kind: 'completeSearchIndex', className }] : [],
    mutations: [],
  }),
});

/** Takes away what is left of the index where it is still the one that is being filled. */
const anew = (className: string, index: TableIndex): PreparedWrite => ({
  plan: (schema) => {
    const { keys } = fillingOf(schema, className)?.index ?? {};
    const isSame = JSON.stringify(keys) === JSON.stringify(index.keys);
    return { changes: isSame ? [{ kind: 'setIndex', className, index }] : [], mutations: [] };
  },
});
