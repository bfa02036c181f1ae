import { fail } from '../../../errors/fail.ts';
import type { JsonValue } from '../../../kernel/json.ts';
import { type Expansion, rowWriter } from '../../../values/rows/encode.ts';
import { rowPieces } from '../../../values/rows/row-pieces.ts';
import { pointerOf } from '../../../values/types/pointer.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import type { Statement } from '../writer.ts';
import {
  Allowance,
  type ByIdsPlan,
  type IncludePlan,
  type JoinedRecord,
  NotShort,
  type ReadPlan,
  type ResolveInclude,
  type Row,
  textOf,
} from './read-plan.ts';

/** Characters that go in one piece of an answer, some. */
const PIECE_LENGTH = 32 * 1024;
/** Characters of a row beyond which it is written in pieces. */
const LARGE_ROW_LENGTH = 256 * 1024;
/** Characters of records that includes put into the rows of a page. */
const MAX_PAGE_EXPANSION = 4 * 1024 * 1024;
/** The same of a single record. */
const MAX_RECORD_EXPANSION = 64 * 1024 * 1024;

/** Where the records that includes put in place of Pointers are read. */
export interface TargetSource {
  readonly resolve: ResolveInclude;
  /** Characters of arrays that are expanded for one page and one include, at most. */
  readonly arrayText: number;
  /** Ids that one statement is to look up, at most. */
  readonly mostIds: number;
  /** Ids as one parameter. */
  list(ids: readonly string[]): StoredValue;
  /** All rows. @throws NotShort where they are more than is allowed; they are spent already */
  all(statement: Statement, allowance: Allowance): Promise<Row[]>;
  /** Does work that reads: all at once, or one after the other where the source wants that. */
  each<T, U>(items: readonly T[], work: (item: T) => Promise<U>): Promise<U[]>;
}

/** The commas between the records of a list. */
export class Commas {
  #isFirst = true;

  /** What stands before the next record. */
  next(): string {
    if (!this.#isFirst) return ',';
    this.#isFirst = false;
    return '';
  }
}

/**
 * JSON text of a page of rows in pieces, commas with it. Pointers and arrays of Pointers are expanded: those that did not come with the rows
 * by one read for each class and level. A page whose expansions would be too large for memory is divided.
 * @throws resultTooLarge (116) for a single record whose expansions are
 */
export async function* writePage(
  source: TargetSource,
  job: ReadPlan,
  rows: readonly Row[],
  commas: Commas,
): AsyncGenerator<string> {
  const isOne = rows.length === 1;
  let records: Records | undefined;
  try {
    records = await recordsOf(source, job, rows, new Allowance(isOne ? MAX_RECORD_EXPANSION : MAX_PAGE_EXPANSION));
  } catch (error) {
    if (!(error instanceof NotShort)) throw error;
    if (isOne) fail('resultTooLarge');
  }
  if (records) yield* inPieces(job, rows, records, commas);
  else {
    const half = rows.length >> 1;
    yield* writePage(source, job, rows.slice(0, half), commas);
    yield* writePage(source, job, rows.slice(half), commas);
  }
}

/**
 * The same of rows that have to be few and short.
 * @param allowance what expansions, and the text that is made, may come to
 * @throws NotShort where they are more
 */
export async function writeShort(
  source: TargetSource,
  job: ReadPlan,
  rows: readonly Row[],
  allowance: Allowance,
): Promise<string> {
  const records = await recordsOf(source, job, rows, allowance);
  let out = '';
  for (const row of rows) {
    const text = records.write(row);
    allowance.spend(text.length);
    out += out === '' ? text : `,${text}`;
  }
  records.done();
  return out;
}

function* inPieces(job: ReadPlan, rows: readonly Row[], records: Records, commas: Commas): Generator<string> {
  let text = '';
  for (const row of rows) {
    text += commas.next();
    for (const piece of textOf(row) < LARGE_ROW_LENGTH
      ? [records.write(row)]
      : rowPieces(job.shape, row, records.expansionsOf(row))) {
      text += piece;
      if (text.length < PIECE_LENGTH) continue;
      yield text;
      text = '';
    }
  }
  records.done();
  if (text !== '') yield text;
}

/** Records that are ready to be written: one by one, since many may hold one large record. */
interface Records {
  write(row: Row): string;
  /** What stands in place of its Pointers. */
  expansionsOf(row: Row): ReadonlyArray<Expansion | undefined>;
  /** All are written. */
  done(): void;
}

/**
 * @param path the includes that led to these rows, and `classes` those of the records on the way
 * @throws NotShort where there are more characters of arrays than the source takes, or of expansions than are allowed
 */
async function recordsOf(
  source: TargetSource,
  job: ReadPlan,
  rows: readonly Row[],
  allowance: Allowance,
  path: readonly number[] = [],
  classes: readonly string[] = [],
): Promise<Records> {
  const write = rowWriter(job.shape);
  const expansions: (Expansion | undefined)[] = [];
  const held: Map<string, string>[] = [];
  await source.each(job.includes, async (include) => {
    const read: ReadTargets = async (className, ids) => {
      const at = [...path, include.index];
      const job = ids.size === 0 ? null : (include.plan ?? (await source.resolve(at, classes, className)));
      if (!job) return new Map();
      const texts = await readTargets(source, job, [...ids], allowance, at, [...classes, className]);
      held.push(texts);
      return texts;
    };
    expansions[include.position] = await expansion(source, include, rows, read, allowance);
  });
  let current: Row = [];
  addJoined(expansions, job.joins ?? [], () => current, held);
  const expansionsOf = (row: Row) => {
    current = row;
    return expansions;
  };
  return {
    expansionsOf,
    write: (row) => write(row, expansionsOf(row)),
    done() {
      // The garbage collector takes what such a map holds for lasting, and with it the texts that they became part of: half of a read's time.
      for (const texts of held) texts.clear();
    },
  };
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

async function expansion(
  source: TargetSource,
  include: IncludePlan,
  rows: readonly Row[],
  read: ReadTargets,
  allowance: Allowance,
): Promise<Expansion> {
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
  refuseLarge(values, found, allowance);
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

/** Characters that a Pointer in an array takes at the least. */
const POINTER_LENGTH = 40;

/** Spends what arrays come to when they are expanded, where that may be much: an array may name one record many times. */
function refuseLarge(
  arrays: readonly string[],
  found: ReadonlyMap<string, ReadonlyMap<string, string>>,
  allowance: Allowance,
): void {
  let longest = 0;
  for (const texts of found.values()) for (const text of texts.values()) longest = Math.max(longest, text.length);
  const most = arrays.reduce((sum, array) => sum + array.length, 0) * (longest / POINTER_LENGTH);
  if (most > allowance.left) for (const array of arrays) allowance.spend(expandedLength(array, found));
}

function expandedLength(array: string, found: ReadonlyMap<string, ReadonlyMap<string, string>>): number {
  let length = 0;
  for (const element of JSON.parse(array) as JsonValue[]) {
    const pointer = pointerOf(element);
    length += (pointer && found.get(pointer.className)?.get(pointer.objectId)?.length) ?? 0;
  }
  return length;
}

function expandArray(array: string, found: ReadonlyMap<string, ReadonlyMap<string, string>>): string {
  const elements = (JSON.parse(array) as JsonValue[]).map((element) => {
    const pointer = pointerOf(element);
    return (pointer && found.get(pointer.className)?.get(pointer.objectId)) ?? JSON.stringify(element);
  });
  return `[${elements.join(',')}]`;
}

/**
 * JSON text of the records of a class by id, themselves expanded.
 * @param path as of `recordsOf`
 */
async function readTargets(
  source: TargetSource,
  job: ByIdsPlan,
  wanted: readonly string[],
  allowance: Allowance,
  path: readonly number[],
  classes: readonly string[],
): Promise<Map<string, string>> {
  const rows: Row[] = [];
  for (let at = 0; at < wanted.length; at += source.mostIds) {
    const params = job.params.with(job.idsAt, source.list(wanted.slice(at, at + source.mostIds)));
    for (const row of await source.all({ text: job.text, params }, allowance)) rows.push(row);
  }
  const records = await recordsOf(source, job, rows, allowance, path, classes);
  const byId = new Map<string, string>();
  for (const row of rows) {
    const text = records.write(row);
    allowance.spend(text.length);
    byId.set(row[0] as string, text);
  }
  records.done();
  return byId;
}
