import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { reason, runCommand } from '../support/command.ts';
import type { BenchContext } from '../support/context.ts';
import { declareTable } from '../support/fill.ts';
import { makeRecord, table } from '../support/records.ts';
import { count, megabytes, note, printTable, verdict } from '../support/report.ts';

/** NDJSON into a declared, indexed, empty table by the `import` sub-command, the service being stopped. */
export async function importRecords({ records = 1_000_000, scratch }: BenchContext): Promise<void> {
  const dataDir = await scratch.directory();
  const service = await scratch.service(dataDir);
  await declareTable(service);
  await service.stop();
  const file = join(await scratch.directory(), 'records.ndjson');
  await pipeline(Readable.from(lines(records)), createWriteStream(file));
  note(`${count(records)} lines written`);

  const args = ['import', '--system', service.appId, '--table', table, '--file', file];
  const result = await runCommand(scratch, dataDir, args);
  const heading = `import: ${count(records)} records from NDJSON`;
  if (result.code !== 0) {
    console.log(`\n${heading}\nnot available: \`${args.slice(0, 5).join(' ')} …\` ended with ${reason(result)}`);
    return;
  }

  const again = await scratch.service(dataDir);
  const answer = await again.call('GET', `/platform/classes/${table}`, { query: { count: 1, limit: 0 } });
  if (answer.body?.count !== records) throw new Error(`${answer.text} after an import of ${records} records`);
  const perSecond = records / result.seconds;
  // Flat: the last fifth of the run needs no more than the second fifth did.
  const { samples, peak } = result.memory;
  const fifth = (index: number) =>
    Math.max(0, ...samples.slice((samples.length * index) / 5, (samples.length * (index + 1)) / 5));
  const growth = fifth(4) / fifth(1);
  const rows = [
    ['records a second, start of the program included', count(perSecond), '≥ 30,000', verdict(perSecond >= 30_000)],
    [
      'resident memory, last fifth against second',
      `${megabytes(fifth(1))} → ${megabytes(fifth(4))}`,
      'flat',
      verdict(growth < 1.2),
    ],
    ['resident memory, peak', megabytes(peak.resident), '–', ''],
  ];
  printTable(heading, ['', 'measured', 'target', ''], rows);
}

function* lines(records: number): Generator<string> {
  const block = 1000;
  for (let first = 0; first < records; first += block) {
    const size = Math.min(block, records - first);
    yield `${Array.from({ length: size }, (_, index) => JSON.stringify(makeRecord(first + index))).join('\n')}\n`;
  }
}
