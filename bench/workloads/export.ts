import { createWriteStream } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { testServer } from '../../src/storage/postgres/testing/server.ts';
import { reason, runCommand } from '../support/command.ts';
import type { BenchContext } from '../support/context.ts';
import { declareTable, serviceTarget } from '../support/fill.ts';
import { MemoryWatch } from '../support/memory.ts';
import { makeRecord, table } from '../support/records.ts';
import { count, median, megabytes, milliseconds, note, printTable, verdict } from '../support/report.ts';

/** What the command is asked for, and whether it has the target. */
const kinds = [
  { name: 'csv', args: ['--format', 'csv'], isJudged: true },
  { name: 'ndjson', args: ['--format', 'ndjson'], isJudged: true },
  { name: 'csv, ordered by a field that has an index', args: ['--format', 'csv', '--order', 'Amount'], isJudged: false },
  { name: 'csv, ordered by a field that has none', args: ['--format', 'csv', '--order', 'Name'], isJudged: false },
];
const leastPerSecond = 100_000;
const mostGrowth = 60e6;
/** Milliseconds between point reads beside an export. */
const PAUSE_MS = 5;

/** A table to a file by the `export` sub-command, then over HTTP with point reads beside; embedded, then on PostgreSQL. */
export async function exportRecords({ records = 1_000_000, scratch }: BenchContext): Promise<void> {
  const server = await testServer();
  scratch.keep(server);
  for (const database of [undefined, await server.database()]) await onEngine(records, scratch, database);
}

async function onEngine(records: number, scratch: BenchContext['scratch'], database?: { url: string }): Promise<void> {
  const engine = database ? 'PostgreSQL' : 'embedded';
  const dataDir = await scratch.directory();
  const env = database ? { DATABASE_URL: database.url } : {};
  const first = await scratch.service(dataDir, database);
  await declareTable(first);
  await first.stop();
  const file = join(await scratch.directory(), 'records.ndjson');
  await pipeline(Readable.from(lines(records)), createWriteStream(file));
  const into = ['--system', first.appId, '--table', table];
  const filled = await runCommand(scratch, dataDir, ['import', ...into, '--file', file], env);
  if (filled.code !== 0) throw new Error(reason(filled));
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
  const { body } = await service.call('GET', `/platform/classes/${table}`, { query: { limit: 100 } });
  const ids: string[] = body.results.map(({ objectId }: { objectId: string }) => objectId);
  let isOver = false;
  const reads = async (until: () => boolean) => {
    const took: number[] = [];
    for (let at = 0; !until(); at++) {
      const began = performance.now();
      await service.call('GET', `/platform/classes/${table}/${ids[at % ids.length]}`, { as: 'apiKey' });
      took.push(performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    return took.sort((a, b) => a - b);
  };
  const begin = performance.now();
  await reads(() => performance.now() - begin > 1_000);
  const quiet = await reads(() => performance.now() - begin > 4_000);
  const memory = new MemoryWatch(service.process.pid ?? 0);
  const started = performance.now();
  const beside = reads(() => isOver);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${target.url}/platform/export/${table}`, { headers: target.headers }, resolve).on('error', reject);
  });
  let bytes = 0;
  for await (const chunk of response) bytes += (chunk as Buffer).length;
  const seconds = (performance.now() - started) / 1000;
  isOver = true;
  memory.stop();
  const busy = await beside;
  const at = (took: readonly number[], share: number) => milliseconds(took[Math.floor(took.length * share)] ?? 0);
  const growth = memory.peak.resident - memory.start.resident;
  printTable(
    `export: ${count(records)} records over HTTP, csv, ${engine}`,
    ['', 'measured', 'target', ''],
    [
      ['records a second', count(records / seconds), '–', ''],
      ['size', megabytes(bytes), '–', ''],
      ["growth of the server's memory", megabytes(growth), '< 60 MB', verdict(growth < mostGrowth)],
      ['point reads beside it, median: quiet, busy', `${milliseconds(median(quiet))}, ${milliseconds(median(busy))}`, '–', ''],
      ['the same, p99', `${at(quiet, 0.99)}, ${at(busy, 0.99)}`, '–', ''],
      ['the same, longest', `${at(quiet, 0.99999)}, ${at(busy, 0.99999)}`, '–', ''],
    ],
  );
  await service.stop();
}

function* lines(records: number): Generator<string> {
  const block = 1_000;
  for (let first = 0; first < records; first += block) {
    const size = Math.min(block, records - first);
    yield `${Array.from({ length: size }, (_, index) => JSON.stringify(makeRecord(first + index))).join('\n')}\n`;
  }
}
