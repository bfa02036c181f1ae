/** Shared by the import suites: files, the command, and its output. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporary } from '../../edge/process.ts';
import type { Service } from '../../support/service.ts';
import { command } from '../../systems/cli.ts';

const directory = await temporary();
let files = 0;

/** Returns a new path in a temporary directory. */
export const freshPath = (ending: string): string => join(directory, `${++files}.${ending}`);

/** Writes a new file. @returns its path */
export async function fileOf(content: string | Buffer, ending = 'csv'): Promise<string> {
  const file = freshPath(ending);
  await writeFile(file, content);
  return file;
}

/** Imports a text into a table of the service's system, with the command. */
export async function importCsv(service: Service, table: string, content: string | Buffer, ...options: string[]) {
  return command(service, 'import', '--system', service.appId, '--table', table, '--file', await fileOf(content), ...options);
}

/** The last line that the command prints. */
export const line = (created: number, updated = 0, rejected = 0): string =>
  `${created + updated + rejected} rows: ${created} created, ${updated} updated, ${rejected} rejected\n`;
