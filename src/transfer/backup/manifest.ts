import { z } from 'zod';
import { appIdPattern } from '../../kernel/credentials.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { serviceVersion } from '../../kernel/version.ts';
import type { Part } from '../migrate/copy.ts';

/** Format version that this service writes, and the newest that it reads. */
export const FORMAT = 1;
export const MANIFEST_NAME = 'manifest.json';
export const SCHEMA_NAME = 'schema.json';
export const REGISTRY_NAME = 'registry.json';

/** Printable, since it appears in lists. */
const line = z.string().regex(/^[^\p{C}]{1,100}$/u);

const part = z.object({
  name: z.string().min(1).max(300),
  count: z.int().nonnegative(),
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

const manifest = z.object({
  format: z.literal(FORMAT),
  version: line,
  engine: z.enum(['sqlite', 'postgres']),
  appId: z.string().regex(appIdPattern),
  name: line,
  madeAt: z.iso.datetime(),
  parts: z.array(part).refine((parts) => new Set(parts.map(({ name }) => name)).size === parts.length),
});

/** A member of the archive after the manifest, in archive order. `count` is the number of records or lines; 1 for a file. */
export type ManifestPart = z.infer<typeof part>;

/** The first member of a backup. Reference: backup.md#format-of-a-backup. */
export type Manifest = z.infer<typeof manifest>;

/** Parses a manifest. @throws OperatorError if it is malformed, or of a later format version */
export function readManifest(text: string): Manifest {
  const value = parsed(text);
  const isLater = typeof value?.format === 'number' && value.format > FORMAT;
  if (isLater)
    throw new OperatorError(
      `the backup was made by version ${String(value.version).slice(0, 40)} of the service (format ${value.format}); this is version ${serviceVersion()}, which reads format ${FORMAT}`,
    );
  const read = manifest.safeParse(value);
  if (!read.success) throw new OperatorError(`${MANIFEST_NAME} is damaged, or the file is no backup of this service`);
  return read.data;
}

function parsed(text: string): { format?: unknown; version?: unknown } | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns the numbers of records and files. */
export function totalsOf({ parts }: Pick<Manifest, 'parts'>): { records: number; files: number } {
  const isRows = ({ name }: ManifestPart) => name.startsWith('rows/');
  return {
    records: parts.filter(isRows).reduce((sum, { count }) => sum + count, 0),
    files: parts.filter(({ name }) => name.startsWith(FILES_FOLDER)).length,
  };
}

/** Returns the member name for a table's rows or a Relation's members. */
export const nameOfPart = (part: Part): string =>
  part.kind === 'table' ? `rows/${part.table.className}.ndjson` : `members/${part.table.className}.${part.field.name}.ndjson`;

const FILES_FOLDER = 'files/';

/** Returns the member name for a file. @param id 32 hexadecimal characters */
export const fileName = (id: string): string => `${FILES_FOLDER}${id}`;

/** Returns the id of a file, or `null` if the member is not a file. */
export function fileIdOf(name: string): string | null {
  const id = name.startsWith(FILES_FOLDER) ? name.slice(FILES_FOLDER.length) : '';
  return /^[0-9a-f]{32}$/.test(id) ? id : null;
}
