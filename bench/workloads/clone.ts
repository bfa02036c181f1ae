import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testServer } from '../../src/storage/postgres/testing/server.ts';
import { type CommandResult, reason, runCommand } from '../support/command.ts';
import type { BenchContext } from '../support/context.ts';
import { type Filled, fillByImport } from '../support/fill-by-import.ts';
import { besideOf, PointReads, quantile } from '../support/point-reads.ts';
import { table } from '../support/records.ts';
import { count, megabytes, note, printTable, verdict } from '../support/report.ts';

/** Seconds for a million records. */
const mostSeconds = { plain: 40, anonymised: 90 };
const mostGrowth = 100e6;
const rules = {
  [table]: {
    Name: 'name',
    PhoneNumber: 'phone',
    Email: 'email',
    City: 'name',
    Comment: 'text',
    Quantity: 'digits',
    DueDate: 'date',
  },
};

/**
 * Clones a system, then clones it anonymised, then beside point reads; embedded, then on PostgreSQL. Memory is compared with that of the same
 * commands for a hundredth of the records.
 */
export async function clone({ records = 1_000_000, scratch }: BenchContext): Promise<void> {
  const server = await testServer();
  scratch.keep(server);
  const rulesFile = join(await scratch.directory(), 'rules.json');
  await writeFile(rulesFile, JSON.stringify(rules));
  for (const isEmbedded of [true, false]) {
    const small = await commands(
      scratch,
      await fillByImport(scratch, records / 100, isEmbedded ? undefined : await server.database()),
      rulesFile,
    );
    const database = isEmbedded ? undefined : await server.database();
    const filled = await fillByImport(scratch, records, database);
    note(`${count(records)} records imported`);
    const results = await commands(scratch, filled, rulesFile);
    const rows = (['plain', 'anonymised'] as const).flatMap((name) => {
      const { seconds, memory } = results[name];
      const target = (mostSeconds[name] * records) / 1_000_000;
      const growth = memory.peak.own - small[name].memory.peak.own;
      return [
        [`${name}: seconds`, seconds.toFixed(1), `≤ ${count(target)}`, verdict(seconds <= target)],
        [`${name}: memory without file pages`, megabytes(memory.peak.own), '–', ''],
        [`${name}: more than for a hundredth of the records`, megabytes(growth), '< 100 MB', verdict(growth < mostGrowth)],
      ];
    });
    const engine = isEmbedded ? 'embedded' : 'PostgreSQL';
    printTable(
      `clone: ${count(records)} records, start of the program included, ${engine}`,
      ['', 'measured', 'target', ''],
      rows,
    );
    await beside(scratch, filled, engine, database);
  }
}

type Scratch = BenchContext['scratch'];

async function commands(
  scratch: Scratch,
  { dataDir, appId, env }: Filled,
  rulesFile: string,
): Promise<Record<keyof typeof mostSeconds, CommandResult>> {
  const take = async (as: string, ...more: string[]) => {
    const result = await runCommand(scratch, dataDir, ['system', 'clone', appId, '--as', as, ...more], env);
    if (result.code !== 0) throw new Error(reason(result));
    await runCommand(scratch, dataDir, ['system', 'remove', as, '--now'], env);
    return result;
  };
  return { plain: await take('plain'), anonymised: await take('anonymised', '--anonymise', rulesFile) };
}

async function beside(
  scratch: Scratch,
  { dataDir, appId, env }: Filled,
  engine: string,
  database?: { url: string },
): Promise<void> {
  const service = await scratch.service(dataDir, database);
  const reads = await PointReads.begin(service);
  const { result, took } = await reads.beside(runCommand(scratch, dataDir, ['system', 'clone', appId, '--as', 'beside'], env));
  if (result.code !== 0) throw new Error(reason(result));
  const [quiet, during] = [quantile(reads.quiet, 0.99), quantile(took, 0.99)];
  printTable(
    `clone beside the running service, ${engine}`,
    ['', 'measured', 'target', ''],
    [
      ['point reads, median: quiet, beside a clone', besideOf(reads.quiet, took, 0.5), '–', ''],
      ['the same, p99', besideOf(reads.quiet, took, 0.99), '< 2×', verdict(during < 2 * quiet)],
      ['the same, longest', besideOf(reads.quiet, took, 0.99999), '–', ''],
    ],
  );
  await service.stop();
}
