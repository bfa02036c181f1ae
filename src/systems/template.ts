import { readdir, readFile } from 'node:fs/promises';
import { newObjectId } from '../kernel/ids.ts';
import type { JsonObject } from '../kernel/json.ts';

/** A first table of a new system. */
export interface TemplateTable {
  readonly className: string;
  /** As in POST schemas: fields, classLevelPermissions, timeline, indexes, textIndex. */
  readonly definition: JsonObject;
  /** Its first records, in wire form, each with an objectId: a new one where the file gives none. */
  readonly rows: readonly JsonObject[];
}

// The folder lies at the package root, two levels above both src/systems and dist/systems.
const folder = new URL('../../template/tables/', import.meta.url);

/** Reads `template/tables`: one file for each table, named after it. @returns the tables by name */
export async function readTemplate(): Promise<TemplateTable[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.json')).sort();
  return Promise.all(files.map(readTable));
}

async function readTable(file: string): Promise<TemplateTable> {
  const { rows = [], ...definition } = JSON.parse(await readFile(new URL(file, folder), 'utf8'));
  return {
    className: file.slice(0, -'.json'.length),
    definition,
    rows: rows.map((row: JsonObject) => ({ objectId: newObjectId(), ...row })),
  };
}
