import { isJsonObject, type JsonValue } from '../../kernel/json.ts';
import { type Expansion, type RowWriter, rowWriter } from '../../values/encode.ts';
import type { Connection, Row } from './connection.ts';
import type { IncludeJob, ReadJob, ResolveInclude } from './job.ts';

/** Rows read between two expansions: one query per level and class for each of these. */
const PAGE_WITH_INCLUDES = 500;
/** Rows of a page without: few, so that they are gone before the garbage collector takes them for lasting. */
const PAGE = 50;
/** Characters of text after which a page is full, however few its rows. */
const PAGE_TEXT = 256 * 1024;

/** Runs a job without includes whole; JSON text of the records, comma-separated. */
export function runWhole(connection: Connection, job: ReadJob): string {
  const write = rowWriter(job.shape);
  const rows = connection.all(job);
  let out = '';
  for (const row of rows) out += out === '' ? write(row) : `,${write(row)}`;
  return out;
}

/** Runs a job page by page; each piece is the JSON text of some records, comma-separated. */
export async function* runPaged(connection: Connection, job: ReadJob, resolve: ResolveInclude): AsyncGenerator<string> {
  const write = rowWriter(job.shape);
  const rows = connection.each(job);
  try {
    const size = job.includes.length > 0 ? PAGE_WITH_INCLUDES : PAGE;
    for (let page = take(rows, size); page.length > 0; page = take(rows, size))
      yield (await writeRows(connection, job, page, write, resolve, [], [])).join(',');
  } finally {
    rows.return?.();
  }
}

function take(rows: Iterator<Row>, count: number): Row[] {
  const page: Row[] = [];
  let text = 0;
  while (page.length < count && text < PAGE_TEXT) {
    const next = rows.next();
    if (next.done) break;
    page.push(next.value);
    for (const value of next.value) if (typeof value === 'string') text += value.length;
  }
  return page;
}

async function writeRows(
  connection: Connection,
  job: ReadJob,
  rows: readonly Row[],
  write: RowWriter,
  resolve: ResolveInclude,
  path: readonly number[],
  classes: readonly string[],
): Promise<string[]> {
  const expansions: (Expansion | undefined)[] = [];
  for (const [index, include] of job.includes.entries()) {
    const read = (className: string, ids: ReadonlySet<string>) =>
      readTargets(connection, resolve, [...path, index], classes, className, ids);
    expansions[include.position] = await expansion(include, rows, read);
  }
  return rows.map(job.includes.length > 0 ? (row) => write(row, expansions) : (row) => write(row));
}

type ReadTargets = (className: string, ids: ReadonlySet<string>) => Promise<ReadonlyMap<string, string>>;

async function expansion(include: IncludeJob, rows: readonly Row[], read: ReadTargets): Promise<Expansion> {
  const values = rows.map((row) => row[include.position]).filter((value): value is string => value !== null);
  if (include.targetClass !== null) {
    const texts = await read(include.targetClass, new Set(values));
    return (objectId) => texts.get(objectId) ?? null;
  }
  const found = new Map<string, ReadonlyMap<string, string>>();
  for (const [className, ids] of pointersIn(values)) found.set(className, await read(className, ids));
  return (array) => expandArray(array, found);
}

/** The Pointers among the elements of arrays, by class. */
function pointersIn(arrays: readonly string[]): Map<string, Set<string>> {
  const byClass = new Map<string, Set<string>>();
  for (const array of arrays)
    for (const element of JSON.parse(array) as JsonValue[]) {
      const pointer = asPointer(element);
      if (!pointer) continue;
      const ids = byClass.get(pointer.className) ?? new Set();
      byClass.set(pointer.className, ids.add(pointer.objectId));
    }
  return byClass;
}

function expandArray(array: string, found: ReadonlyMap<string, ReadonlyMap<string, string>>): string {
  const elements = (JSON.parse(array) as JsonValue[]).map((element) => {
    const pointer = asPointer(element);
    return (pointer && found.get(pointer.className)?.get(pointer.objectId)) ?? JSON.stringify(element);
  });
  return `[${elements.join(',')}]`;
}

function asPointer(value: JsonValue): { className: string; objectId: string } | null {
  if (!isJsonObject(value) || value.__type !== 'Pointer') return null;
  const { className, objectId } = value;
  return typeof className === 'string' && typeof objectId === 'string' ? { className, objectId } : null;
}

/** JSON text of the records of a class by id, themselves expanded; empty where the caller may not read the class. */
async function readTargets(
  connection: Connection,
  resolve: ResolveInclude,
  path: readonly number[],
  classes: readonly string[],
  className: string,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const job = ids.size === 0 ? null : await resolve(path, classes, className);
  if (!job) return new Map();
  const [, ...rest] = job.params;
  const rows = connection.all({ text: job.text, params: [JSON.stringify([...ids]), ...rest] });
  const write = rowWriter(job.shape);
  const texts = await writeRows(connection, job, rows, write, resolve, path, [...classes, className]);
  return new Map(rows.map((row, index) => [row[0] as string, texts[index] as string]));
}
