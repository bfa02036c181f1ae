import { fail } from '../../../errors/fail.ts';
import type { JsonValue } from '../../../kernel/json.ts';
import { type Expansion, rowWriter } from '../../../values/rows/encode.ts';
import { rowPieces } from '../../../values/rows/row-pieces.ts';
import { pointerOf } from '../../../values/types/pointer.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import type { Statement } from '../sql-writer.ts';
import {
  Allowance,
  type ByIdsPlan,
  type IncludePlan,
  type JoinedRecord,
  type ReadPlan,
  type ResolveInclude,
  type Row,
  TooLong,
  textOf,
} from './read-plan.ts';

/** Approximate characters in one chunk of an answer. */
const CHUNK_CHARS = 32 * 1024;
/** Rows with more characters than this are written in chunks. */
const LARGE_ROW_CHARS = 256 * 1024;
/** Maximum characters of records that includes put into the rows of a page. */
const MAX_PAGE_EXPANSION_CHARS = 4 * 1024 * 1024;
/** The same for a single record. */
export const MAX_RECORD_EXPANSION_CHARS = 64 * 1024 * 1024;

/** Reads the records that includes put in place of Pointers. */
export interface TargetSource {
  readonly resolve: ResolveInclude;
  /** Maximum characters of arrays that are expanded for one page and one include. */
  readonly arrayText: number;
  /** Maximum number of ids per statement. */
  readonly maxIds: number;
  /** Returns ids as one parameter. */
  list(ids: readonly string[]): StoredValue;
  /** Returns all rows and deducts them from the allowance. @throws TooLong if they exceed it */
  all(statement: Statement, allowance: Allowance): Promise<Row[]>;
  /** Maps items with work that reads: concurrently, or sequentially if the source requires it. */
  each<T, U>(items: readonly T[], work: (item: T) => Promise<U>): Promise<U[]>;
}

/** The commas between the records of a list. */
export class Commas {
  #isFirst = true;

  /** Returns the text before the next record. */
  next(): string {
    if (!this.#isFirst) return ',';
    this.#isFirst = false;
    return '';
  }
}

/**
 * Yields the JSON text of a page of rows in chunks, with commas. Pointers and arrays of Pointers are expanded: those that did not come with the rows
 * by one read per class and level. A page whose expansions would be too large for memory is split.
 * @throws resultTooLarge (116) for a single record whose expansions are too large
 */
export async function* writePage(
  source: TargetSource,
  plan: ReadPlan,
  rows: readonly Row[],
  commas: Commas,
): AsyncGenerator<string> {
  const isOne = rows.length === 1;
  let records: Records | undefined;
  try {
    records = await recordsOf(source, plan, rows, new Allowance(isOne ? MAX_RECORD_EXPANSION_CHARS : MAX_PAGE_EXPANSION_CHARS));
  } catch (error) {
    if (!(error instanceof TooLong)) throw error;
    if (isOne) fail('resultTooLarge');
  }
  if (records) yield* inChunks(plan, rows, records, commas);
  else {
    const half = rows.length >> 1;
    yield* writePage(source, plan, rows.slice(0, half), commas);
    yield* writePage(source, plan, rows.slice(half), commas);
  }
}

/**
 * Returns the JSON text of rows that must be few and short.
 * @param allowance limit of the expansions and the resulting text
 * @throws TooLong if they exceed it
 */
export async function writeShort(
  source: TargetSource,
  plan: ReadPlan,
  rows: readonly Row[],
  allowance: Allowance,
): Promise<string> {
  const records = await recordsOf(source, plan, rows, allowance);
  let out = '';
  for (const row of rows) {
    const text = records.write(row);
    allowance.spend(text.length);
    out += out === '' ? text : `,${text}`;
  }
  records.done();
  return out;
}

function* inChunks(plan: ReadPlan, rows: readonly Row[], records: Records, commas: Commas): Generator<string> {
  let text = '';
  for (const row of rows) {
    text += commas.next();
    for (const piece of textOf(row) < LARGE_ROW_CHARS
      ? [records.write(row)]
      : rowPieces(plan.shape, row, records.expansionsOf(row))) {
      text += piece;
      if (text.length < CHUNK_CHARS) continue;
      yield text;
      text = '';
    }
  }
  records.done();
  if (text !== '') yield text;
}

/** Records ready to be written. They are written one by one, since many may contain the same large record. */
interface Records {
  write(row: Row): string;
  /** The expansions of its Pointers. */
  expansionsOf(row: Row): ReadonlyArray<Expansion | undefined>;
  /** Call when all are written. */
  done(): void;
}

/**
 * @param path the includes that led to these rows; `classes`: the classes of the records along it
 * @throws TooLong if arrays have more characters than the source accepts, or expansions more than are allowed
 */
async function recordsOf(
  source: TargetSource,
  plan: ReadPlan,
  rows: readonly Row[],
  allowance: Allowance,
  path: readonly number[] = [],
  classes: readonly string[] = [],
): Promise<Records> {
  const write = rowWriter(plan.shape);
  const expansions: (Expansion | undefined)[] = [];
  const textMaps: Map<string, string>[] = [];
  await source.each(plan.includes, async (include) => {
    const read: ReadTargets = async (className, ids) => {
      const at = [...path, include.index];
      const plan = ids.size === 0 ? null : (include.plan ?? (await source.resolve(at, classes, className)));
      if (!plan) return new Map();
      const texts = await readTargets(source, plan, [...ids], allowance, at, [...classes, className]);
      textMaps.push(texts);
      return texts;
    };
    expansions[include.position] = await expansion(source, include, rows, read, allowance);
  });
  let current: Row = [];
  addJoined(expansions, plan.joins ?? [], () => current, textMaps);
  const expansionsOf = (row: Row) => {
    current = row;
    return expansions;
  };
  return {
    expansionsOf,
    write: (row) => write(row, expansionsOf(row)),
    done() {
      // Clearing lets the garbage collector free these maps, and the texts that refer to them, early: it halves the time of a read.
      for (const texts of textMaps) texts.clear();
    },
  };
}

/** Adds the expansions of records that came in the row itself. A record that many rows contain is written once. */
function addJoined(
  expansions: (Expansion | undefined)[],
  joins: readonly JoinedRecord[],
  current: () => Row,
  textMaps: Map<string, string>[],
): void {
  for (const { position, from, to, shape, joins: nested } of joins) {
    const write = rowWriter(shape);
    const below: (Expansion | undefined)[] = [];
    addJoined(below, nested, current, textMaps);
    const texts = new Map<string, string>();
    textMaps.push(texts);
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
  if (values.reduce((sum, array) => sum + array.length, 0) > source.arrayText) throw new TooLong();
  const pointers = [...pointersIn(values)];
  const found = new Map(
    await source.each(pointers, async ([className, ids]) => [className, await read(className, ids)] as const),
  );
  refuseLarge(values, found, allowance);
  return (array) => expandArray(array, found);
}

/** Returns the Pointers among the elements of arrays, by class. */
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

/** Minimum characters of a Pointer in an array. */
const MIN_POINTER_CHARS = 40;

/** Deducts the expanded size of arrays from the allowance if it may exceed it: an array may name one record many times. */
function refuseLarge(
  arrays: readonly string[],
  found: ReadonlyMap<string, ReadonlyMap<string, string>>,
  allowance: Allowance,
): void {
  let longest = 0;
  for (const texts of found.values()) for (const text of texts.values()) longest = Math.max(longest, text.length);
  const max = arrays.reduce((sum, array) => sum + array.length, 0) * (longest / MIN_POINTER_CHARS);
  if (max > allowance.left) for (const array of arrays) allowance.spend(expandedLength(array, found));
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
 * Returns the JSON text of records of a class by id, with their own expansions.
 * @param path as in `recordsOf`
 */
async function readTargets(
  source: TargetSource,
  plan: ByIdsPlan,
  wanted: readonly string[],
  allowance: Allowance,
  path: readonly number[],
  classes: readonly string[],
): Promise<Map<string, string>> {
  const rows: Row[] = [];
  for (let at = 0; at < wanted.length; at += source.maxIds) {
    const params = plan.params.with(plan.idsAt, source.list(wanted.slice(at, at + source.maxIds)));
    for (const row of await source.all({ text: plan.text, params }, allowance)) rows.push(row);
  }
  const records = await recordsOf(source, plan, rows, allowance, path, classes);
  const byId = new Map<string, string>();
  for (const row of rows) {
    const text = records.write(row);
    allowance.spend(text.length);
    byId.set(row[0] as string, text);
  }
  records.done();
  return byId;
}
