import { testServer } from '../../src/storage/postgres/testing/server.ts';
import type { BenchContext } from '../support/context.ts';
import { serviceTarget } from '../support/fill.ts';
import { fillByImport } from '../support/fill-by-import.ts';
import { MemoryWatch } from '../support/memory.ts';
import { besideOf, PointReads } from '../support/point-reads.ts';
import { table } from '../support/records.ts';
import { count, megabytes, note, printTable, verdict } from '../support/report.ts';

const leastPerSecond = 20_000;
/** Of any number of records: the heap of a service that has just started grows by itself. */
const mostGrowth = 150e6;

/** Updates all records of a table without a timeline in one request, beside point reads, then deletes them; embedded, then on PostgreSQL. */
export async function many({ records = 100_000, scratch }: BenchContext): Promise<void> {
  const server = await testServer();
  scratch.keep(server);
  for (const database of [undefined, await server.database()]) await onEngine(records, scratch, database);
}

async function onEngine(records: number, scratch: BenchContext['scratch'], database?: { url: string }): Promise<void> {
  const engine = database ? 'PostgreSQL' : 'embedded';
  const { dataDir } = await fillByImport(scratch, records, database);
  note(`${engine}: ${count(records)} records imported`);
  const service = await scratch.service(dataDir, database);
  const { url, headers } = serviceTarget(service);
  const rows: string[][] = [];
  for (const [what, method, body, mayBeJudged] of [
    ['update', 'PUT', { Name: 'changed' }, true],
    ['update of an index by Increment', 'PUT', { Amount: { __op: 'Increment', amount: 1 } }, false],
    ['delete', 'DELETE', undefined, true],
  ] as const) {
    // The records to read must stay.
    const reads = method === 'PUT' ? await PointReads.begin(service) : null;
    const memory = new MemoryWatch(service.process.pid ?? 0);
    const started = performance.now();
    const writing = write(`${url}/platform/classes/${table}`, records, { method, headers, body });
    const took = reads ? (await reads.beside(writing)).took : await writing;
    const perSecond = (records / (performance.now() - started)) * 1000;
    memory.stop();
    const growth = memory.peak.resident - memory.start.resident;
    const isJudged = mayBeJudged && !database;
    const target = isJudged ? `≥ ${count(leastPerSecond)}` : '–';
    rows.push([`${what}: records a second`, count(perSecond), target, isJudged ? verdict(perSecond >= leastPerSecond) : '']);
    rows.push([`${what}: growth of the server's memory`, megabytes(growth), '< 150 MB', verdict(growth < mostGrowth)]);
    if (!reads || !took) continue;
    rows.push([`${what}: point reads beside it, median: quiet, busy`, besideOf(reads.quiet, took, 0.5), '–', '']);
    rows.push([`${what}: the same, p99`, besideOf(reads.quiet, took, 0.99), '–', '']);
  }
  printTable(`many: ${count(records)} records in one request, ${engine}`, ['', 'measured', 'target', ''], rows);
  await service.stop();
}

/** Writes all records of the table. @throws Error unless all are written */
async function write(
  path: string,
  records: number,
  { method, headers, body }: { method: string; headers: Record<string, string>; body: object | undefined },
): Promise<null> {
  const url = `${path}?where=${encodeURIComponent('{}')}&expect=${records}`;
  const answer = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await answer.text();
  const { updated, deleted } = JSON.parse(text) as { updated?: number; deleted?: number };
  if ((updated ?? deleted) !== records) throw new Error(`${method} answered ${answer.status} ${text.slice(0, 300)}`);
  return null;
}
