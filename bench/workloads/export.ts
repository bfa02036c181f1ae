import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { testServer } from '../../src/storage/postgres/testing/server.ts';
import { reason, runCommand } from '../support/command.ts';
import type { BenchContext } from '../support/context.ts';
import { serviceTarget } from '../support/fill.ts';
import { fillByImport } from '../support/fill-by-import.ts';
import { MemoryWatch } from '../support/memory.ts';
import { besideOf, PointReads } from '../support/point-reads.ts';
import { table } from '../support/records.ts';
import { count, megabytes, note, printTable, verdict } from '../support/report.ts';

/** Variants of the command, and whether the target applies. */
const kinds = [
  { name: 'csv', args: ['--format', 'csv'], isJudged: true },
  { name: 'ndjson', args: ['--format', 'ndjson'], isJudged: true },
  { name: 'csv, ordered by a field that has an index', args: ['--format', 'csv', '--order', 'Amount'], isJudged: false },
  { name: 'csv, ordered by a field that has none', args: ['--format', 'csv', '--order', 'Name'], isJudged: false },
];
const leastPerSecond = 100_000;
const mostGrowth = 60e6;

/** Exports a table to a file by the `export` sub-command, then over HTTP during point reads; embedded, then on PostgreSQL. */
export async function exportRecords({ records = 1_000_000, scratch }: BenchContext): Promise<void> {
  const server = await testServer();
  scratch.keep(server);
  for (const database of [undefined, await server.database()]) await onEngine(records, scratch, database);
}

async function onEngine(records: number, scratch: BenchContext['scratch'], database?: { url: string }): Promise<void> {
  const engine = database ? 'PostgreSQL' : 'embedded';
  const { dataDir, appId, env } = await fillByImport(scratch, records, database);
  const into = ['--system', appId, '--table', table];
  note(`${engine}: ${count(records)} records imported`);

  const rows: string[][] = [];
  const to = join(await scratch.directory(), 'out');
  const run = async (args: string[]) => {
    const result = await runCommand(scratch, dataDir, ['export', ...into, '--to', to, ...args], env);
    if (result.code !== 0) throw new Error(reason(result));
    return result;
  };
  const idle = (await run(['--format', 'csv', '--where', '{"objectId":"none"}'])).memory.peak.resident;
  for (const { name, args, isJudged } of kinds) {
    const { seconds, memory } = await run(args);
    const perSecond = records / seconds;
    const growth = memory.peak.resident - idle;
    const judged = (is: boolean) => (isJudged ? verdict(is) : '');
    rows.push([`${name}: records a second`, count(perSecond), `≥ ${count(leastPerSecond)}`, judged(perSecond >= leastPerSecond)]);
    rows.push([`${name}: memory beside an export of nothing`, megabytes(growth), '< 60 MB', verdict(growth < mostGrowth)]);
  }
  printTable(
    `export: ${count(records)} records to a file, start of the program included, ${engine}`,
    ['', 'measured', 'target', ''],
    rows,
  );

  const service = await scratch.service(dataDir, database);
  const target = serviceTarget(service);
  const reads = await PointReads.begin(service);
  const memory = new MemoryWatch(service.process.pid ?? 0);
  const started = performance.now();
  const { result: bytes, took } = await reads.beside(download(`${target.url}/platform/export/${table}`, target.headers));
  const seconds = (performance.now() - started) / 1000;
  memory.stop();
  const growth = memory.peak.resident - memory.start.resident;
  printTable(
    `export: ${count(records)} records over HTTP, csv, ${engine}`,
    ['', 'measured', 'target', ''],
    [
      ['records a second', count(records / seconds), '–', ''],
      ['size', megabytes(bytes), '–', ''],
      ["growth of the server's memory", megabytes(growth), '< 60 MB', verdict(growth < mostGrowth)],
      ['point reads beside it, median: quiet, busy', besideOf(reads.quiet, took, 0.5), '–', ''],
      ['the same, p99', besideOf(reads.quiet, took, 0.99), '–', ''],
      ['the same, longest', besideOf(reads.quiet, took, 0.99999), '–', ''],
    ],
  );
  await service.stop();
}

async function download(url: string, headers: Record<string, string>): Promise<number> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers }, resolve).on('error', reject);
  });
  let bytes = 0;
  for await (const chunk of response) bytes += (chunk as Buffer).length;
  return bytes;
}
