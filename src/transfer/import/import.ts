import { setTimeout as pause } from 'node:timers/promises';
import { refuseOutright } from '../../access/index.ts';
import { fail, isInDoubt, isPassing, isRefusal, type ServiceError } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { createRecord, type RecordContext, readRow } from '../../records/index.ts';
import { checkClassName } from '../../schema/model.ts';
import { isLog } from '../../schema/system-tables.ts';
import { parseRequestJson } from '../../values/index.ts';
import { keptNames, knownOf } from './known.ts';
import type { Line } from './lines.ts';

/** Who else works on the store: nobody; a service whose writes wait while a commit is under way; others, who go on meanwhile. */
export type Company = 'none' | 'waiting' | 'working';

/**
 * Lines that share a commit; memory holds no more than one such group. Many, since pages of indexes are written once for each commit;
 * few where others wait; and not too many where they work, since a new column keeps them from the table until the commit.
 */
const groupSizes: Readonly<Record<Company, number>> = { none: 50_000, waiting: 500, working: 5_000 };
/** Lines that are given to the store at once, which carries them out in their order: where it is far, one round trip is shared. */
const SLICE_LINES = 1_000;
/** Characters of a group's lines, where lines are long. */
const MAX_GROUP_LENGTH = 32 * 1024 * 1024;
/** Milliseconds for which a group is tried again while the store is away. */
const PATIENCE_MS = 120_000;
/** Milliseconds until it is tried again, at least: a commit without an answer may be carried out a little late. */
const AGAIN_MS = 1_000;

/** A row that was not imported. */
export interface RejectedLine {
  /** From 1: of the file's lines, or of an export's records. */
  readonly line: number;
  readonly text: Line;
  readonly error: ServiceError;
}

/** What came of the rows. */
export interface ImportResult {
  readonly created: number;
  readonly rejected: number;
  /** Rows whose times or author were left out, by field. */
  readonly leftOut: ReadonlyMap<string, number>;
}

/** How rows become records. */
export interface ImportOptions {
  /** Whether `createdAt`, `updatedAt` and `createdBy` of rows are taken over; else the service sets them. */
  readonly keepTimes: boolean;
  /** Whether no trigger runs, and nothing is written to the timeline. */
  readonly skipTriggers: boolean;
  readonly skipTimeline: boolean;
}

/** What is told in the course of an import. */
export interface ImportEvents {
  /** A line was refused. Called in the order of lines. */
  rejected(line: RejectedLine): void;
  /** A group is durable. @param created the records created so far */
  progressed(created: number): void;
}

interface NumberedLine {
  readonly number: number;
  readonly text: Line;
}

/**
 * Creates a record for each line of newline-delimited JSON, in order. Empty lines are passed over; a line that is refused is reported
 * and the others go on, as in a batch. A group that the store was away for, or that a read took too long for, is tried again for a while, as a whole: nothing of it was done.
 * @param blocks lines of one JSON object each, as a POST would carry it; an `objectId` in it is kept
 * @param company asked before each group
 * @throws what `refuseImport` throws; unavailable, outcomeUnknown, timeout and faults, which end the import: groups before stay imported
 */
export async function importRecords(
  context: RecordContext,
  className: string,
  blocks: AsyncIterable<readonly Line[]>,
  options: ImportOptions,
  company: () => Company,
  events: ImportEvents,
): Promise<ImportResult> {
  refuseImport(context, className);
  const importing = { className, options, leftOut: new Map<string, number>() };
  let created = 0;
  let rejected = 0;
  for await (const lines of groupsOf(blocks, () => groupSizes[company()])) {
    const begun = performance.now();
    const refused = await importInTime(context, importing, lines);
    created += lines.length - refused.length;
    rejected += refused.length;
    for (const line of refused) events.rejected(line);
    events.progressed(created);
    // The service's writes have their turn for as long as they have waited.
    if (lines.length <= groupSizes.waiting && company() === 'waiting') await pause(performance.now() - begun);
  }
  return { created, rejected, leftOut: importing.leftOut };
}

/** @throws invalidClassName (103); permissionDenied (119) for a hidden table, a log or sessions: nobody forges what was */
export function refuseImport({ store, principal }: RecordContext, className: string): void {
  if (!store.schema().tables.has(className)) checkClassName(className);
  refuseOutright(principal, 'create', className);
  if (isLog(className) || className === '_Session' || className === '_AdminLog') fail('permissionDenied', 'create', className);
}

/** An import that is under way. */
interface Importing {
  readonly className: string;
  readonly options: ImportOptions;
  readonly leftOut: Map<string, number>;
}

/** The lines that are not empty, numbered, in groups. @param sizeOf the size of the next group */
async function* groupsOf(blocks: AsyncIterable<readonly Line[]>, sizeOf: () => number): AsyncGenerator<readonly NumberedLine[]> {
  let number = 0;
  let group: NumberedLine[] = [];
  let size = sizeOf();
  let length = 0;
  for await (const block of blocks)
    for (const line of block) {
      number++;
      // Windows marks the beginning of a UTF-8 file.
      const text = number === 1 && line?.startsWith('\uFEFF') ? line.slice(1) : line;
      if (text?.trim() === '') continue;
      group.push({ number, text });
      length += text?.length ?? 0;
      if (group.length < size && length < MAX_GROUP_LENGTH) continue;
      yield group;
      group = [];
      size = sizeOf();
      length = 0;
    }
  if (group.length > 0) yield group;
}

/** Imports a group, again and again for a while where its store is away. @returns the lines that were refused, in order */
async function importInTime(
  context: RecordContext,
  importing: Importing,
  lines: readonly NumberedLine[],
): Promise<readonly RejectedLine[]> {
  const { store } = context;
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const group: Group = { rejected: [], created: null, leftOut: new Map() };
    try {
      await store.bulkTransaction((within) => importGroup({ ...context, store: within }, importing, lines, group));
    } catch (error) {
      if (!isPassing(error) || !(await isBack(store, until))) throw error;
      if (!isInDoubt(error) || !(await wasCarriedOut(context, importing, group, until))) continue;
    }
    for (const [name, count] of group.leftOut) importing.leftOut.set(name, (importing.leftOut.get(name) ?? 0) + count);
    return group.rejected;
  }
}

/** Waits until a store works. @returns false where that takes too long */
async function isBack(store: RecordContext['store'], until: number): Promise<boolean> {
  await pause(AGAIN_MS);
  const late = new AbortController();
  const isLate = pause(Math.max(0, until - performance.now()), false, { signal: late.signal }).catch(() => false);
  const back = await Promise.race([store.whenBack().then(() => true), isLate]);
  late.abort();
  return back && performance.now() < until;
}

/** Whether a group whose commit had no answer was carried out. @throws what is in the way of finding out for too long */
async function wasCarriedOut(context: RecordContext, importing: Importing, group: Group, until: number): Promise<boolean> {
  for (;;)
    try {
      return await isThere(context, importing, group);
    } catch (error) {
      if (!isPassing(error) || !(await isBack(context.store, until))) throw error;
    }
}

/** Then one of its records is there. */
async function isThere({ store }: RecordContext, { className }: Importing, { created }: Group): Promise<boolean> {
  if (created === null || !store.schema().tables.has(className)) return false;
  return (await readRow(store, className, idField, created)) !== null;
}

const idField = ['objectId'] as const;

/** What came of a group, as far as it was carried out. */
interface Group {
  readonly rejected: RejectedLine[];
  /** The id of a record that it made. */
  created: string | null;
  readonly leftOut: Map<string, number>;
}

/** Creates the records of a group. @throws what ends the group: nothing of it is done then */
async function importGroup(
  context: RecordContext,
  importing: Importing,
  lines: readonly NumberedLine[],
  group: Group,
): Promise<void> {
  for (let from = 0; from < lines.length; from += SLICE_LINES) {
    const slice = lines.slice(from, from + SLICE_LINES);
    const done = await Promise.allSettled(slice.map(({ text }) => importLine(context, importing, text, group.leftOut)));
    done.forEach((line, at) => {
      if (line.status === 'fulfilled') group.created ??= line.value;
      else {
        const error: unknown = line.reason;
        if (!isRefusal(error)) throw error;
        const { number, text } = slice[at] as NumberedLine;
        group.rejected.push({ line: number, text, error });
      }
    });
  }
}

/** @returns the objectId of the record */
async function importLine(
  context: RecordContext,
  importing: Importing,
  text: Line,
  leftOut: Map<string, number>,
): Promise<string> {
  if (text === null) return fail('tooLarge');
  const body = parseRequestJson(text, limits.jsonDepth, Number.POSITIVE_INFINITY);
  if (!isJsonObject(body)) return fail('invalidJson', 'a line must hold one JSON object');
  const { className, options } = importing;
  if (holdsExport(context, className, body))
    return fail('invalidJson', 'the line is an export of Parse: import it as a file of its own');
  const known = options.keepTimes ? knownOf(className, body) : {};
  if (options.skipTriggers) body.dontRunPlatformTriggers = true;
  if (options.skipTimeline) body.dontUpdatePlatformTimeline = true;
  const { objectId } = await createRecord(context, className, body, undefined, known);
  if (!options.keepTimes)
    for (const name of keptNames) if (Object.hasOwn(body, name)) leftOut.set(name, (leftOut.get(name) ?? 0) + 1);
  return objectId;
}

/** Whether a row is no record but an answer with records. */
function holdsExport({ store }: RecordContext, className: string, body: JsonObject): boolean {
  const { results } = body;
  if (!Array.isArray(results) || !results.every(isJsonObject)) return false;
  const isKnown = store.schema().tables.get(className)?.fields.has('results') === true;
  return !isKnown && Object.keys(body).every((name) => name === 'results' || name === 'count');
}
