import { testServer } from '../../src/storage/postgres/testing/server.ts';
import type { BenchContext } from '../support/context.ts';
import { declareTable, fill, serviceTarget } from '../support/fill.ts';
import { startParseServer } from '../support/parse-server.ts';
import { count, printTable, ratio, verdict } from '../support/report.ts';
import type { Target } from '../support/target.ts';
import { connections, measureInTurn, operations } from './operations.ts';

/** The test server disables durability; these settings restore it. */
const asInstalled = { fsync: 'on', full_page_writes: 'on', wal_level: 'replica', max_wal_senders: 10 };

/** The six operations: the service on either engine, and Parse Server on the same PostgreSQL, alternately, in rounds. */
export async function parse(context: BenchContext): Promise<void> {
  const { records = 100_000, seconds, rounds, scratch } = context;
  const server = await testServer(asInstalled);
  scratch.keep(server);
  const databases = [await server.database(), await server.database()] as const;
  const embedded = await scratch.service(await scratch.directory());
  const onPostgres = await scratch.service(await scratch.directory(), databases[0]);
  const peer = await startParseServer(scratch, databases[1].url);
  for (const service of [embedded, onPostgres]) await declareTable(service);
  const targets: [Target, Target, Target] = [
    { ...serviceTarget(embedded), name: 'embedded' },
    { ...serviceTarget(onPostgres), name: 'PostgreSQL' },
    peer,
  ];
  const ids = new Map<Target, string[]>();
  for (const target of targets) ids.set(target, await fill(target, records, target === peer ? 100 : 500));
  for (const database of databases) await server.query('VACUUM ANALYZE', database);
  const measured = await measureInTurn(context, ids);
  const rows = operations.map((operation) => {
    const [own, ownPostgres, theirs] = targets.map((target) => measured(operation, target).rate) as [number, number, number];
    const judged = [own / theirs, ownPostgres / theirs].flatMap((share, engine) => {
      const wanted = operation.overParse[engine] ?? 0;
      return [ratio(share), `≥ ${wanted}×`, verdict(share >= wanted)];
    });
    return [operation.name, count(own), count(ownPostgres), count(theirs), ...judged];
  });
  const heading = `parse: ${count(records)} records of 12 fields, ${connections} connections, medians of ${rounds} × ${seconds} s`;
  const columns = [
    'operation',
    'embedded req/s',
    'PostgreSQL',
    'Parse Server',
    'embedded',
    'target',
    '',
    'PostgreSQL',
    'target',
    '',
  ];
  printTable(heading, columns, rows);
}
