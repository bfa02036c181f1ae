import { testServer } from '../../src/storage/postgres/testing/server.ts';
import { engines } from '../../test/support/service.ts';
import { fillPostgres, fillSqlite } from '../growth/fill.ts';
import { measureLarge } from '../growth/large.ts';
import type { Engine } from '../growth/measure.ts';
import { measurePointers } from '../growth/pointers.ts';
import { definitionOf, named, sizedTables } from '../growth/records.ts';
import { measureSizes } from '../growth/sizes.ts';
import { measureTables } from '../growth/tables.ts';
import type { BenchContext } from '../support/context.ts';

const TABLES = [10, 111, 300, 1_000];

/** Measures what a request costs as records, tables and Pointer columns grow in number; embedded, then on PostgreSQL. */
export async function growth(context: BenchContext): Promise<void> {
  if (engines.includes('sqlite')) await onEngine(context, { name: 'embedded' });
  if (!engines.includes('postgres')) return;
  const server = await testServer({ fsync: 'on', full_page_writes: 'on', wal_level: 'replica', max_wal_senders: 10 });
  context.scratch.keep(server);
  await onEngine(context, { name: 'PostgreSQL', server });
}

async function onEngine(context: BenchContext, engine: Engine): Promise<void> {
  const { records = 10_000_000 } = context;
  await measureRecords(context, engine, records);
  // A quick look.
  await measureTables(context, engine, records < 1_000_000 ? [TABLES[0] ?? 0, 300] : TABLES);
  await measurePointers(context, engine);
}

async function measureRecords(context: BenchContext, engine: Engine, records: number): Promise<void> {
  const { scratch } = context;
  const { server } = engine;
  const tables = sizedTables(records);
  const dataDir = await scratch.directory();
  const database = await server?.database();
  const first = await scratch.service(dataDir, database);
  for (const table of tables) {
    const { status, text } = await first.call('POST', `/platform/schemas/${table.className}`, { body: definitionOf(table) });
    if (status !== 200) throw new Error(text);
  }
  await first.stop();
  if (server && database) await fillPostgres(server, database, tables);
  else fillSqlite(dataDir, tables);
  const service = await scratch.service(dataDir, database);
  const subjects = tables.map((table) => ({ name: named(table), service, table, ...(database && { database }) }));
  await measureSizes(context, engine, subjects);
  const largest = subjects.at(-1);
  if (largest) await measureLarge(engine, largest);
  await service.stop();
}
