/** The statements of a run's services to databases in cluster mode: recorded by each process, and held to the rules at the end of the run. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { STATEMENTS_VARIABLE } from '../../src/storage/postgres/testing/coordinator/cluster-mode.ts';

/** Node's argument for a process that is to record its statements. */
export const recording = `--import=${new URL('../../src/storage/postgres/testing/coordinator/recording.ts', import.meta.url).href}`;

/** The variable that a process needs for it, if its environment is not inherited. */
export const recordingVariable = (): Record<string, string> => {
  const directory = process.env[STATEMENTS_VARIABLE];
  return directory === undefined ? {} : { [STATEMENTS_VARIABLE]: directory };
};

/** Makes the processes that this one starts record their statements. */
export async function beginRecording(): Promise<void> {
  process.env[STATEMENTS_VARIABLE] = await mkdtemp(join(tmpdir(), 'rds-statements-'));
}

/** Returns which recorded statements break which rules, as text; empty if none does. */
export async function endRecording(): Promise<string> {
  const directory = process.env[STATEMENTS_VARIABLE];
  if (directory === undefined) return '';
  const files = await readdir(directory);
  const texts = await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8')));
  await rm(directory, { recursive: true });
  const lines = texts.flatMap((text) => text.split('\n').filter((line) => line !== ''));
  // The parser takes a tenth of a second to load.
  if (lines.length === 0) return '';
  const { offencesOf, reportOf } = await import('../../src/storage/postgres/testing/coordinator/check.ts');
  return reportOf(offencesOf(lines.map((line) => JSON.parse(line))));
}
