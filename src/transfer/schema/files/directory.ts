import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJson, isJsonObject, type JsonObject, type JsonValue, withoutMark } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { parseRequestJson } from '../../../values/index.ts';
import { parts, type Snapshot, SnapshotFault } from '../model/snapshot.ts';
import { manifestJson, partsJson } from '../model/snapshot-json.ts';
import { readSnapshot } from '../read/read-snapshot.ts';
import { faultOfDirectory } from './fault.ts';
import { formatJson } from './format.ts';
import { faultIn, lineOf } from './position.ts';

/** What the snapshot says of itself: `{format, complete}`. */
const MANIFEST = 'schema.json';
const TABLES = 'tables';
/** Bytes of one file, and of all. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;
const MAX_BYTES = 256 * 1024 * 1024;
/** Larger than the number of tables that a snapshot may have. */
const MAX_FILES = 10_000;
/** Levels of a file: those of a value, and what stands around it in a table. */
const MAX_LEVELS = limits.jsonDepth + 8;

/** Parts with a file of their name; tables have one each. */
const fileParts = parts.filter((part) => part !== 'tables');

/** A file of a snapshot. */
interface SchemaFile {
  readonly text: string;
  readonly value: JsonValue;
}

/**
 * Reads a snapshot from a directory. Other files in it are ignored.
 * Reference: schema-as-code.md#the-directory.
 * @throws OperatorError with file and place
 */
export async function readDirectory(directory: string): Promise<Snapshot> {
  const files = await readFiles(directory);
  if (files.size === 0)
    throw new OperatorError(`--from: ${directory} holds no snapshot: neither ${TABLES}/ nor one of its other files`);
  const tables: [string, JsonValue][] = [];
  const body: JsonObject = {};
  for (const [name, { value }] of files) {
    const stem = name.slice(0, -'.json'.length);
    if (name === MANIFEST) Object.assign(body, manifestOf(value));
    else if (name.startsWith(`${TABLES}/`)) tables.push([stem.slice(TABLES.length + 1), value]);
    else body[stem] = value;
  }
  if (tables.length > 0) body.tables = Object.fromEntries(tables);
  try {
    return readSnapshot(body);
  } catch (error) {
    if (!(error instanceof SnapshotFault)) throw error;
    throw faultOfDirectory(error, ({ file, inside }) => {
      const text = files.get(file)?.text;
      return text === undefined ? null : lineOf(text, inside);
    });
  }
}

function manifestOf(value: JsonValue): JsonObject {
  if (!isJsonObject(value)) throw new OperatorError(`${MANIFEST}: it is not an object`);
  // Keys of parts belong into their files.
  const other = parts.find((part) => Object.hasOwn(value, part));
  if (other !== undefined) throw new OperatorError(`${MANIFEST}: ${other} is not a key`);
  return value;
}

/** Reads the files of a snapshot by their names in the directory. */
async function readFiles(directory: string): Promise<ReadonlyMap<string, SchemaFile>> {
  const files = new Map<string, SchemaFile>();
  let bytes = 0;
  const read = async (name: string) => {
    const text = await readText(join(directory, name), name);
    if (text === null) return;
    bytes += text.length;
    if (bytes > MAX_BYTES) throw new OperatorError(`--from: the files have more than ${MAX_BYTES.toLocaleString('en')} bytes`);
    files.set(name, { text, value: parsed(text, name) });
  };
  const names = await namesIn(directory);
  if (names === null) throw new OperatorError(`--from: there is no directory ${directory}`);
  await read(MANIFEST);
  for (const part of fileParts) await read(`${part}.json`);
  const tables = (await namesIn(join(directory, TABLES)))?.filter((name) => name.endsWith('.json')).sort() ?? [];
  if (tables.length > MAX_FILES)
    throw new OperatorError(`--from: ${TABLES}/ has more than ${MAX_FILES.toLocaleString('en')} files`);
  for (const name of tables) await read(`${TABLES}/${name}`);
  return files;
}

/** Returns the names in a directory; `null` if there is none. */
async function namesIn(directory: string): Promise<string[] | null> {
  try {
    return await readdir(directory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

async function readText(path: string, name: string): Promise<string | null> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  if (!found) return null;
  if (!found.isFile()) throw new OperatorError(`${name}: it is no file`);
  if (found.size > MAX_FILE_BYTES)
    throw new OperatorError(`${name}: it has more than ${MAX_FILE_BYTES.toLocaleString('en')} bytes`);
  return withoutMark(await readFile(path, 'utf8'));
}

/** By the rules of request bodies: files come from outside, too. */
function parsed(text: string, name: string): JsonValue {
  try {
    return parseRequestJson(text, MAX_LEVELS, Number.POSITIVE_INFINITY);
  } catch (error) {
    if (isJson(text)) throw new OperatorError(`${name}: ${(error as Error).message}`);
    const { line, column } = faultIn(text);
    throw new OperatorError(`${name}: it is no JSON: line ${line}, column ${column}`);
  }
}

/**
 * Writes a snapshot into a directory: the files of its parts, and no other table in `tables/`. Each file is replaced as a whole.
 * @returns number of files
 * @throws OperatorError if `tables/` holds files that no export has written
 */
export async function writeDirectory(directory: string, snapshot: Snapshot): Promise<number> {
  const json = partsJson(snapshot);
  const files = new Map<string, JsonValue>([[MANIFEST, manifestJson(snapshot)]]);
  for (const part of fileParts) {
    const value = json[part];
    if (value !== undefined) files.set(`${part}.json`, value);
  }
  const { tables } = json;
  if (isJsonObject(tables)) {
    for (const [className, table] of Object.entries(tables)) files.set(`${TABLES}/${className}.json`, table);
    await removeOthers(directory, files);
  }
  await mkdir(join(directory, TABLES), { recursive: true });
  for (const [name, value] of files) {
    const path = join(directory, name);
    const part = `${path}.${process.pid}.part`;
    await writeFile(part, formatJson(value));
    await rename(part, path);
  }
  return files.size;
}

/** Removes tables of an earlier export. */
async function removeOthers(directory: string, files: ReadonlyMap<string, unknown>): Promise<void> {
  const found = (await namesIn(join(directory, TABLES))) ?? [];
  const others = found.filter((name) => name.endsWith('.json') && !files.has(`${TABLES}/${name}`));
  if (others.length === 0) return;
  if (!(await namesIn(directory))?.includes(MANIFEST))
    throw new OperatorError(
      `--to: ${directory}/${TABLES} holds ${others[0]}, and no export has written there; name an empty directory`,
    );
  for (const name of others) await rm(join(directory, TABLES, name));
}
