import type { JsonValue } from '../../../kernel/json.ts';
import { type Expansion, rowWriter } from '../../../values/encode.ts';
import { pointerOf } from '../../../values/pointer.ts';
import type { StoredValue } from '../../../values/type.ts';
import type { Statement } from '../writer.ts';
import type { IncludeJob, JoinedRecord, ReadJob, ResolveInclude } from './job.ts';

/** Values of a row, in the order of its columns. */
type Row = readonly unknown[];

/** Where the records that includes put in place of Pointers are read. */
export interface TargetSource {
  readonly resolve: ResolveInclude;
  /** Characters of arrays that are expanded for one page and one include, at most. */
  readonly arrayText: number;
  /** Ids that one statement is to look up, at most. */
  readonly mostIds: number;
  /** Ids as one parameter. */
  list(ids: readonly string[]): StoredValue;
  all(statement: Statement): Row[] | Promise<Row[]>;
  /** Does work that reads: all at once, or one after the other where the source wants that. */
  each<T, U>(items: readonly T[], work: (item: T) => Promise<U>): Promise<U[]>;
}

/** Arrays of Pointers turned out too long for a read that has to be short. */
export class NotShort extends Error {}

/**
 * JSON text of each of a page of rows, Pointers and arrays of Pointers expanded: those that did not come with the rows by one read for each
 * class and level.
 * @param path the includes that led to these rows, and `classes` those of the records on the way
 * @throws NotShort where there are more characters of arrays than the source takes
 */
export async function writeRecords(
  source: TargetSource,
  job: ReadJob,
  rows: readonly Row[],
  path: readonly number[] = [],
  classes: readonly string[] = [],
): Promise<string[]> {
  const write = rowWriter(job.shape);
  if (job.includes.length === 0 && !job.joins?.length) return rows.map((row) => write(row));
  const expansions: (Expansion | undefined)[] = [];
  const held: Map<string, string>[] = [];
  await source.each(job.includes, async (include) => {
    const read: ReadTargets = async (className, ids) => {
      const texts = await readTargets(source, [...path, include.index], classes, className, ids);
      held.push(texts);
      return texts;
    };
    expansions[include.position] = await expansion(source, include, rows, read);
  });
  let current: Row = [];
  addJoined(expansions, job.joins ?? [], () => current, held);
  const written = rows.map((row) => {
    current = row;
    return write(row, expansions);
  });
  // The garbage collector takes what such a map holds for lasting, and with it the texts that they became part of: half of a read's time.
  for (const texts of held) texts.clear();
  return written;
}

/** Adds the expansions of records that are in the row itself. Many rows may hold the same one: it is written once. */
function addJoined(
  expansions: (Expansion | undefined)[],
  joins: readonly JoinedRecord[],
  current: () => Row,
  held: Map<string, string>[],
): void {
  for (const { position, from, to, shape, joins: nested } of joins) {
    const write = rowWriter(shape);
    const below: (Expansion | undefined)[] = [];
    addJoined(below, nested, current, held);
    const texts = new Map<string, string>();
    held.push(texts);
    expansions[position] = (objectId) => {
      const row = current();
      if (row[from] === null) return null;
      let text = texts.get(objectId);
      if (text === undefined) {
        text = write(row.slice(from, to), below);
        texts.set(objectId, text);
      }
      return text;
    };
  }
}

type ReadTargets = (className: string, ids: ReadonlySet<string>) => Promise<ReadonlyMap<string, string>>;

async function expansion(source: TargetSource, include: IncludeJob, rows: readonly Row[], read: ReadTargets): Promise<Expansion> {
  const values = rows.map((row) => row[include.position]).filter((value): value is string => value !== null);
  if (include.targetClass !== null) {
    const texts = await read(include.targetClass, new Set(values));
    return (objectId) => texts.get(objectId) ?? null;
  }
  if (values.reduce((sum, array) => sum + array.length, 0) > source.arrayText) throw new NotShort();
  const pointers = [...pointersIn(values)];
  const found = new Map(
    await source.each(pointers, async ([className, ids]) => [className, await read(className, ids)] as const),
  );
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
  source: TargetSource,
  path: readonly number[],
  classes: readonly string[],
  className: string,
  ids: ReadonlySet<string>,
): Promise<Map<string, string>> {
  const job = ids.size === 0 ? null : await source.resolve(path, classes, className);
  if (!job) return new Map();
  const rows: Row[] = [];
  const wanted = [...ids];
  for (let at = 0; at < wanted.length; at += source.mostIds) {
    const params = job.params.with(job.idsAt, source.list(wanted.slice(at, at + source.mostIds)));
    for (const row of await source.all({ text: job.text, params })) rows.push(row);
  }
  const texts = await writeRecords(source, job, rows, path, [...classes, className]);
  return new Map(rows.map((row, index) => [row[0] as string, texts[index] as string]));
}
