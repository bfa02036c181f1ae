import { createHash } from 'node:crypto';
import { columnFields } from '../../storage/column-values.ts';
import { chunkedRows, type StoreSnapshot } from '../../storage/raw-access.ts';
import { fileName } from './manifest.ts';
import type { Content } from './prepare-backup.ts';

/** The hidden table with one row per file of a system. */
const fileTable = '_StoredFile';

/** Access to the bytes of a system's files. */
export interface FileSource {
  /** Opens a file; `null` if it has no bytes. @throws unavailable */
  open(id: string): Promise<AsyncIterable<Buffer> | null>;
}

/** A file was deleted or changed between the two reads. */
export class FileGone extends Error {
  readonly id: string;

  constructor(id: string) {
    super(`the file ${id} was deleted meanwhile`);
    this.id = id;
  }
}

/** Totals of the files. */
export interface FileParts {
  readonly bytes: number;
  /** Number of files without bytes. */
  readonly missing: number;
}

/**
 * Adds the files of a system. Their bytes are read twice, for the checksum and for the archive, and not spooled: they may be large.
 * @param read called with the number of files so far
 */
export async function addFiles(
  snapshot: StoreSnapshot,
  files: FileSource,
  contents: Content[],
  read: (files: number) => void,
): Promise<FileParts> {
  let sum = 0;
  let missing = 0;
  for await (const { id, isAwaited } of fileIds(snapshot)) {
    const content = await fileContent(files, id);
    // A large upload that was announced but has not arrived is not missing.
    if (!content) missing += isAwaited ? 0 : 1;
    else {
      contents.push(content);
      sum += content.part.bytes;
    }
    read(contents.length);
  }
  return { bytes: sum, missing };
}

/** Reads a file once, for its checksum. @returns what reads it again, and throws FileGone if it has changed; `null` if it has no bytes */
export async function fileContent(files: FileSource, id: string): Promise<Content | null> {
  const found = await checksumOf(files, id);
  return found && { part: { name: fileName(id), count: 1, ...found }, read: () => sameBytes(files, id, found) };
}

async function* fileIds(snapshot: StoreSnapshot): AsyncGenerator<{ id: string; isAwaited: boolean }> {
  const table = snapshot.schema.tables.get(fileTable);
  if (!table) return;
  const names = columnFields(table).map(({ name }) => name);
  // The first column is the row's place in the table.
  const [id, size] = ['objectId', 'size'].map((name) => names.indexOf(name) + 1) as [number, number];
  for await (const rows of chunkedRows(snapshot, table, 0))
    for (const row of rows) yield { id: String(row[id]), isAwaited: row[size] === null };
}

interface Sum {
  readonly bytes: number;
  readonly sha256: string;
}

async function checksumOf(files: FileSource, id: string): Promise<Sum | null> {
  const stream = await files.open(id);
  if (!stream) return null;
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of stream) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** Reads the bytes again. @throws FileGone if they differ from the first read */
async function* sameBytes(files: FileSource, id: string, { bytes, sha256 }: Sum): AsyncGenerator<Buffer> {
  const stream = await files.open(id);
  if (!stream) throw new FileGone(id);
  const hash = createHash('sha256');
  let read = 0;
  for await (const chunk of stream) {
    read += chunk.length;
    if (read > bytes) throw new FileGone(id);
    hash.update(chunk);
    yield chunk;
  }
  if (read !== bytes || hash.digest('hex') !== sha256) throw new FileGone(id);
}
