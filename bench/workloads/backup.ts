import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { testServer } from '../../src/storage/postgres/testing/server.ts';
import { type CommandResult, reason, runCommand } from '../support/command.ts';
import type { BenchContext } from '../support/context.ts';
import { serviceTarget } from '../support/fill.ts';
import { type Filled, fillByImport } from '../support/fill-by-import.ts';
import { besideOf, PointReads, quantile } from '../support/point-reads.ts';
import { makeRecord, table } from '../support/records.ts';
import { count, megabytes, note, printTable, verdict } from '../support/report.ts';
import { send } from '../support/target.ts';

const minRates = { backup: 100_000, verify: 150_000, restore: 30_000 };
const mostGrowth = 60e6;
/** Rate of creates during a backup, per second. */
const WRITES_A_SECOND = 500;
const WRITE_EVERY_MS = 20;

/**
 * Backs up a system, verifies the backup and restores it as another system; then backs up during point reads and during creates; embedded, then on
 * PostgreSQL. Memory is compared with that of the same commands for a tenth of the records.
 */
export async function backup({ records = 1_000_000, scratch }: BenchContext): Promise<void> {
  const server = await testServer();
  scratch.keep(server);
  for (const isEmbedded of [true, false]) {
    const small = await fillByImport(scratch, records / 10, isEmbedded ? undefined : await server.database());
    const before = await commands(scratch, small);
    const database = isEmbedded ? undefined : await server.database();
    const filled = await fillByImport(scratch, records, database);
    note(`${count(records)} records imported`);
    const engine = isEmbedded ? 'embedded' : 'PostgreSQL';
    const results = await commands(scratch, filled);
    const rows = Object.entries(results).flatMap(([name, { seconds, memory }]) => {
      const target = minRates[name as keyof typeof minRates];
      const growth = memory.peak.resident - before[name as keyof typeof minRates].memory.peak.resident;
      const perSecond = records / seconds;
      return [
        [`${name}: records a second`, count(perSecond), `≥ ${count(target)}`, verdict(perSecond >= target)],
        [`${name}: memory`, megabytes(memory.peak.resident), '–', ''],
        [`${name}: more than for a tenth of the records`, megabytes(growth), '< 60 MB', verdict(growth < mostGrowth)],
      ];
    });
    printTable(
      `backup: ${count(records)} records, start of the programs included, ${engine}`,
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
): Promise<Record<keyof typeof minRates, CommandResult>> {
  const to = await scratch.directory();
  const run = async (args: string[]) => {
    const result = await runCommand(scratch, dataDir, args, env);
    if (result.code !== 0) throw new Error(`${args[0]}: ${reason(result)}`);
    return result;
  };
  const made = await run(['backup', '--system', appId, '--to', to]);
  const [name = ''] = await readdir(join(to, appId));
  const file = join(to, appId, name);
  const verified = await run(['backup', 'verify', file]);
  const restored = await run(['restore', file, '--as', `${appId}-again`]);
  return { backup: made, verify: verified, restore: restored };
}

async function beside(
  scratch: Scratch,
  { dataDir, appId, env }: Filled,
  engine: string,
  database?: { url: string },
): Promise<void> {
  const service = await scratch.service(dataDir, database);
  const to = await scratch.directory();
  const take = () => runCommand(scratch, dataDir, ['backup', '--system', appId, '--to', to], env);
  const reads = await PointReads.begin(service);
  const { result, took } = await reads.beside(take());
  if (result.code !== 0) throw new Error(reason(result));

  const end = new AbortController();
  const target = serviceTarget(service);
  let written = 0;
  const writing = (async () => {
    const perBatch = (WRITES_A_SECOND * WRITE_EVERY_MS) / 1000;
    for (let at = performance.now(); !end.signal.aborted; at += WRITE_EVERY_MS) {
      await wait(Math.max(0, at - performance.now()));
      const items = Array.from({ length: perBatch }, () => makeRecord(written++));
      const sent = items.map((body) => send(target, { method: 'POST', path: `/platform/classes/${table}`, body }));
      await Promise.all(sent);
    }
  })();
  const started = performance.now();
  const busy = await take();
  const seconds = (performance.now() - started) / 1000;
  end.abort();
  await writing;
  if (busy.code !== 0) throw new Error(reason(busy));
  const [quiet, during] = [quantile(reads.quiet, 0.99), quantile(took, 0.99)];
  printTable(
    `backup beside the running service, ${engine}`,
    ['', 'measured', 'target', ''],
    [
      ['point reads, median: quiet, beside a backup', besideOf(reads.quiet, took, 0.5), '–', ''],
      ['the same, p99', besideOf(reads.quiet, took, 0.99), '< 2×', verdict(during < 2 * quiet)],
      ['the same, longest', besideOf(reads.quiet, took, 0.99999), '–', ''],
      [`beside ${count(written / seconds)} creates a second it ends after`, `${seconds.toFixed(1)} s`, 'ends', verdict(true)],
    ],
  );
  await service.stop();
}
