/** What the import suites share: files, the command, what it prints. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporary } from '../../edge/process.ts';
import type { Service } from '../../support/service.ts';
import { command } from '../../systems/cli.ts';

const directory = await temporary();
let files = 0;

/** A new path in a directory of this suite. */
export const freshPath = (ending: string): string => join(directory, `${++files}.${ending}`);

/** A file with these bytes. */
export async function fileOf(content: string | Buffer, ending = 'csv'): Promise<string> {
  const file = freshPath(ending);
  await writeFile(file, content);
  return file;
}

/** Imports a text into a table of the service's system. */
export async function importCsv(service: Service, table: string, content: string | Buffer, ...options: string[]) {
  return command(service, 'import', '--system', service.appId, '--table', table, '--file', await fileOf(content), ...options);
}

/** What the command prints last. */
export const line = (created: number, updated = 0, rejected = 0): string =>
  `${created + updated + rejected} rows: ${created} created, ${updated} updated, ${rejected} rejected\n`;
