import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { testServer } from '../../src/storage/postgres/testing/server.ts';
import { reason, runCommand } from '../support/command.ts';
import type { BenchContext } from '../support/context.ts';
import { declareTable } from '../support/fill.ts';
import { linesOf } from '../support/fill-by-import.ts';
import { makeRecord, table } from '../support/records.ts';
import { count, megabytes, note, printTable, verdict } from '../support/report.ts';

/** Imports NDJSON and CSV into an empty indexed table by the `import` sub-command; embedded while the service is stopped, and on PostgreSQL. */
export async function importRecords(context: BenchContext): Promise<void> {
  const server = await testServer();
  context.scratch.keep(server);
  await importAs(context, 'ndjson', 30_000);
  await importAs(context, 'csv', 25_000);
  await importAs(context, 'csv', 12_000, await server.database());
}

const writers = { ndjson: linesOf, csv: rows } as const;

async function importAs(
  { records = 1_000_000, scratch }: BenchContext,
  format: keyof typeof writers,
  target: number,
  database?: { url: string },
): Promise<void> {
  const dataDir = await scratch.directory();
  const service = await scratch.service(dataDir, database);
  await declareTable(service);
  await service.stop();
  const file = join(await scratch.directory(), `records.${format}`);
  await pipeline(Readable.from(writers[format](records)), createWriteStream(file));
  note(`${count(records)} rows written`);

  const args = ['import', '--system', service.appId, '--table', table, '--file', file];
  const result = await runCommand(scratch, dataDir, args, database ? { DATABASE_URL: database.url } : {});
  const heading = `import: ${count(records)} records from ${format.toUpperCase()}, ${database ? 'PostgreSQL' : 'embedded'}`;
  if (result.code !== 0) {
    console.log(`\n${heading}\nnot available: \`${args.slice(0, 5).join(' ')} …\` ended with ${reason(result)}`);
    return;
  }

  const again = await scratch.service(dataDir, database);
  const answer = await again.call('GET', `/platform/classes/${table}`, { query: { count: 1, limit: 0 } });
  await again.stop();
  if (answer.body?.count !== records) throw new Error(`${answer.text} after an import of ${records} records`);
  const perSecond = records / result.seconds;
  // Flat: the last fifth of the run needs no more memory than the second fifth.
  const { samples, peak } = result.memory;
  const fifth = (index: number) =>
    Math.max(0, ...samples.slice((samples.length * index) / 5, (samples.length * (index + 1)) / 5));
  const growth = fifth(4) / fifth(1);
  const told = [
    ['records a second, start of the program included', count(perSecond), `≥ ${count(target)}`, verdict(perSecond >= target)],
    [
      'resident memory, last fifth against second',
      `${megabytes(fifth(1))} → ${megabytes(fifth(4))}`,
      'flat',
      verdict(growth < 1.2),
    ],
    ['resident memory, peak', megabytes(peak.resident), '–', ''],
  ];
  printTable(heading, ['', 'measured', 'target', ''], told);
}

function* rows(records: number): Generator<string> {
  const header = Object.keys(makeRecord(0));
  yield `${header.join(',')}\n`;
  for (let seed = 0; seed < records; seed++) {
    const record = makeRecord(seed);
    yield `${header.map((name) => cellOf(record[name])).join(',')}\n`;
  }
}

/** Formats a cell like an export. */
function cellOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return quoted(String(value ?? ''));
  const { __type, iso, objectId } = value as Record<string, string>;
  return quoted((__type === 'Date' ? iso : __type === 'Pointer' ? objectId : undefined) ?? JSON.stringify(value));
}

const quoted = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
