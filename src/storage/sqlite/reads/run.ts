import type { JsonValue } from '../../../kernel/json.ts';
import { type Expansion, type RowWriter, rowWriter } from '../../../values/encode.ts';
import { pointerOf } from '../../../values/pointer.ts';
import type { Connection, Row } from '../connection.ts';
import type { IncludeJob, ReadJob, ResolveInclude } from './job.ts';

/** Rows read between two expansions: one query per level and class for each of these. */
const PAGE_WITH_INCLUDES = 500;
/** Rows of a page without: few, so that they are gone before the garbage collector takes them for lasting. */
const PAGE = 50;
/** Characters of text after which a page is full, however few its rows. */
const PAGE_TEXT = 256 * 1024;

/** Arrays of Pointers turned out too long for a read that has to be short. */
export class NotShort extends Error {}

/** Runs a job without includes whole; JSON text of the records, comma-separated. */
export function runWhole(connection: Connection, job: ReadJob): string {
  const write = rowWriter(job.shape);
  const rows = connection.all(job);
  let out = '';
  for (const row of rows) out += out === '' ? write(row) : `,${write(row)}`;
  return out;
}

/**
 * Runs a job page by page; each piece is the JSON text of some records, comma-separated.
 * @param arrayText characters of arrays that are expanded for one page and one include
 * @throws NotShort where there are more
 */
export async function* runPaged(
  connection: Connection,
  job: ReadJob,
  resolve: ResolveInclude,
  arrayText = Number.POSITIVE_INFINITY,
): AsyncGenerator<string> {
  const write = rowWriter(job.shape);
  const reading = { connection, resolve, arrayText };
  const rows = connection.each(job);
  try {
    const size = job.includes.length > 0 ? PAGE_WITH_INCLUDES : PAGE;
    for (let page = take(rows, size); page.length > 0; page = take(rows, size))
      yield (await writeRows(reading, job, page, write, [], [])).join(',');
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

interface Reading {
  readonly connection: Connection;
  readonly resolve: ResolveInclude;
  readonly arrayText: number;
}

async function writeRows(
  reading: Reading,
  job: ReadJob,
  rows: readonly Row[],
  write: RowWriter,
  path: readonly number[],
  classes: readonly string[],
): Promise<string[]> {
  const expansions: (Expansion | undefined)[] = [];
  for (const [index, include] of job.includes.entries()) {
    const read = (className: string, ids: ReadonlySet<string>) => readTargets(reading, [...path, index], classes, className, ids);
    expansions[include.position] = await expansion(reading, include, rows, read);
  }
  return rows.map(job.includes.length > 0 ? (row) => write(row, expansions) : (row) => write(row));
}

type ReadTargets = (className: string, ids: ReadonlySet<string>) => Promise<ReadonlyMap<string, string>>;

async function expansion(
  { arrayText }: Reading,
  include: IncludeJob,
  rows: readonly Row[],
  read: ReadTargets,
): Promise<Expansion> {
  const values = rows.map((row) => row[include.position]).filter((value): value is string => value !== null);
  if (include.targetClass !== null) {
    const texts = await read(include.targetClass, new Set(values));
    return (objectId) => texts.get(objectId) ?? null;
  }
  if (values.reduce((sum, array) => sum + array.length, 0) > arrayText) throw new NotShort();
  const found = new Map<string, ReadonlyMap<string, string>>();
  for (const [className, ids] of pointersIn(values)) found.set(className, await read(className, ids));
  return (array) => expandArray(array, found);
}

/** The Pointers among the elements of arrays, by class. */
function pointersIn(arrays: readonly string[]): Map<string, Set<string>> {
  const byClass = new Map<string, Set<string>>();
  for (const array of arrays)
    for (const element of JSON.parse(array) as JsonValue[]) {
      const pointer = pointerOf(element);
      if (!pointer) continue;
      const ids = byClass.get(pointer.className) ?? new Set();
      byClass.set(pointer.className, ids.add(pointer.objectId));
    }
  return byClass;
}

function expandArray(array: string, found: ReadonlyMap<string, ReadonlyMap<string, string>>): string {
  const elements = (JSON.parse(array) as JsonValue[]).map((element) => {
    const pointer = pointerOf(element);
    return (pointer && found.get(pointer.className)?.get(pointer.objectId)) ?? JSON.stringify(element);
  });
  return `[${elements.join(',')}]`;
}

/** JSON text of the records of a class by id, themselves expanded; empty where the caller may not read the class. */
async function readTargets(
  reading: Reading,
  path: readonly number[],
  classes: readonly string[],
  className: string,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const { connection, resolve } = reading;
  const job = ids.size === 0 ? null : await resolve(path, classes, className);
  if (!job) return new Map();
  const rows = connection.all({ text: job.text, params: job.params.with(job.idsAt, JSON.stringify([...ids])) });
  const write = rowWriter(job.shape);
  const texts = await writeRows(reading, job, rows, write, path, [...classes, className]);
  return new Map(rows.map((row, index) => [row[0] as string, texts[index] as string]));
}
