import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { reason, runCommand } from './command.ts';
import { declareTable } from './fill.ts';
import { makeRecord, table } from './records.ts';
import type { Scratch } from './scratch.ts';

/** A filled data directory on which no service runs. */
export interface Filled {
  readonly dataDir: string;
  readonly appId: string;
  /** Settings for commands on it. */
  readonly env: Record<string, string>;
}

/** Fills a new data directory by the `import` sub-command, which is fastest. @param database of PostgreSQL; embedded if absent */
export async function fillByImport(scratch: Scratch, records: number, database?: { url: string }): Promise<Filled> {
  const dataDir = await scratch.directory();
  const env: Record<string, string> = database ? { DATABASE_URL: database.url } : {};
  const service = await scratch.service(dataDir, database);
  await declareTable(service);
  await service.stop();
  const { appId } = service;
  const file = join(await scratch.directory(), 'records.ndjson');
  await pipeline(Readable.from(linesOf(records)), createWriteStream(file));
  const filled = await runCommand(scratch, dataDir, ['import', '--system', appId, '--table', table, '--file', file], env);
  if (filled.code !== 0) throw new Error(reason(filled));
  return { dataDir, appId, env };
}

/** Returns records as NDJSON, in chunks. */
export function* linesOf(records: number): Generator<string> {
  const block = 1_000;
  for (let first = 0; first < records; first += block) {
    const size = Math.min(block, records - first);
    yield `${Array.from({ length: size }, (_, index) => JSON.stringify(makeRecord(first + index))).join('\n')}\n`;
  }
}
