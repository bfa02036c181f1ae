import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { deserialize, EJSON } from 'bson';
import { isJsonObject, type JsonObject } from '../../../kernel/json.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { bsonRecords } from './bson-records.ts';
import { jsonRecords } from './json-records.ts';
import type { MongoDocument } from './mongo-record.ts';

/** Bytes per read. */
const CHUNK_BYTES = 256 * 1024;

/** A file of one collection or class. */
export interface DumpFile {
  readonly path: string;
  readonly name: string;
  readonly form: 'bson' | 'json';
  readonly isCompressed: boolean;
}

/** An item of a file: a MongoDB document, or an object in Parse's wire form. */
export type Dumped =
  | { readonly kind: 'document'; readonly document: MongoDocument }
  | { readonly kind: 'wire'; readonly object: JsonObject };

/**
 * Returns the files of a dump by collection. They are in the directory or, as mongodump creates it, in its only subdirectory.
 * @throws OperatorError if there are none
 */
export async function filesOfDump(directory: string): Promise<ReadonlyMap<string, DumpFile>> {
  const found = await filesIn(directory);
  if (found.size > 0) return found;
  const folders = (await entriesOf(directory)).filter((entry) => entry.isDirectory());
  const inner = folders.length === 1 ? await filesIn(join(directory, folders[0]?.name ?? '')) : found;
  if (inner.size > 0) return inner;
  throw new OperatorError(
    '--from: this directory holds no dump: files Class.bson of mongodump, or Class.json of mongoexport or of Parse',
  );
}

async function filesIn(directory: string): Promise<Map<string, DumpFile>> {
  const files = new Map<string, DumpFile>();
  for (const entry of await entriesOf(directory)) {
    const [, collection, form, gz] = /^(.+)\.(bson|json)(\.gz)?$/.exec(entry.name) ?? [];
    if (collection === undefined || collection.endsWith('.metadata') || !entry.isFile()) continue;
    const path = join(directory, entry.name);
    files.set(nameOf(collection), { path, name: entry.name, form: form as 'bson' | 'json', isCompressed: gz !== undefined });
  }
  return files;
}

/** mongodump percent-encodes characters that are not allowed in file names: `_Join%3Ausers%3A_Role`. */
function nameOf(collection: string): string {
  try {
    return decodeURIComponent(collection);
  } catch {
    return collection;
  }
}

async function entriesOf(directory: string) {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (error) {
    throw new OperatorError(`--from: ${(error as Error).message}`);
  }
}

/** Returns the items of a file. @throws OperatorError if it cannot be read or is damaged */
export async function* dumped(file: DumpFile): AsyncGenerator<Dumped> {
  try {
    if (file.form === 'bson')
      for await (const bytes of bsonRecords(bytesOf(file), file.name)) yield { kind: 'document', document: deserialize(bytes) };
    else {
      let number = 0;
      for await (const text of jsonRecords(bytesOf(file), file.name)) yield dumpedOf(text, `${file.name}, object ${++number}`);
    }
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const { message, name, syscall } = error as NodeJS.ErrnoException;
    if (
      name === 'BSONError' ||
      syscall !== undefined ||
      message.includes('incorrect') ||
      message.includes('unexpected end of file')
    )
      throw new OperatorError(`--from: ${file.name}: ${message}`);
    throw error;
  }
}

function dumpedOf(text: string, place: string): Dumped {
  let object: unknown;
  try {
    object = JSON.parse(text);
  } catch {
    throw new OperatorError(`--from: ${place}: this is no JSON`);
  }
  if (!isJsonObject(object)) throw new OperatorError(`--from: ${place}: this is no object`);
  if (Object.hasOwn(object, '_id')) return { kind: 'document', document: EJSON.deserialize(object) as MongoDocument };
  if (typeof object.objectId === 'string' || typeof object.owningId === 'string') return { kind: 'wire', object };
  throw new OperatorError(`--from: ${place}: it has no id, so that this is no dump`);
}

async function* bytesOf({ path, isCompressed }: DumpFile): AsyncGenerator<Buffer> {
  const stream = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  if (!isCompressed) {
    yield* stream as AsyncIterable<Buffer>;
    return;
  }
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  stream.on('error', (error) => gunzip.destroy(error));
  yield* stream.pipe(gunzip) as AsyncIterable<Buffer>;
}
