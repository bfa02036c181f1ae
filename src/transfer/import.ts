import { setTimeout as pause } from 'node:timers/promises';
import { refuseOutright } from '../access/index.ts';
import { fail, ServiceError } from '../errors/fail.ts';
import { isJsonObject } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import { createRecord, type RecordContext } from '../records/index.ts';
import { checkClassName } from '../schema/naming.ts';
import { parseRequestJson } from '../values/index.ts';
import type { Line } from './lines.ts';

/** Who else works on the store: nobody; a service whose writes wait while a commit is under way; others, who go on meanwhile. */
export type Company = 'none' | 'waiting' | 'working';

/**
 * Lines that share a commit; memory holds no more than one such group. Many, since pages of indexes are written once for each commit;
 * few where others wait; and not too many where they work, since a new column keeps them from the table until the commit.
 */
const groupSizes: Readonly<Record<Company, number>> = { none: 50_000, waiting: 500, working: 5_000 };
/** Lines that are given to the store at once, which carries them out in their order: where it is far, one round trip is shared. */
const SLICE = 1_000;
/** Characters of a group's lines, where lines are long. */
const GROUP_TEXT = 32 * 1024 * 1024;

/** A line that was not imported. */
export interface RejectedLine {
  /** From 1. */
  readonly line: number;
  readonly error: ServiceError;
}

/** How many lines became records. */
export interface ImportResult {
  readonly imported: number;
  readonly rejected: number;
}

/** What is told in the course of an import. */
export interface ImportEvents {
  /** A line was refused. Called in the order of lines. */
  rejected(line: RejectedLine): void;
  /** A group is durable. @param imported the records imported so far */
  progressed(imported: number): void;
}

interface NumberedLine {
  readonly number: number;
  readonly text: Line;
}

/**
 * Creates a record for each line of newline-delimited JSON, in order. Empty lines are passed over; a line that is refused is reported
 * and the others go on, as in a batch.
 * @param blocks lines of one JSON object each, as a POST would carry it; an `objectId` in it is kept
 * @param company asked before each group
 * @throws invalidClassName (103), permissionDenied (119) for a hidden table; faults, which end the import: groups before stay imported
 */
export async function importRecords(
  context: RecordContext,
  className: string,
  blocks: AsyncIterable<readonly Line[]>,
  company: () => Company,
  events: ImportEvents,
): Promise<ImportResult> {
  if (!context.store.schema().tables.has(className)) checkClassName(className);
  refuseOutright(context.principal, 'create', className);
  let imported = 0;
  let rejected = 0;
  for await (const lines of groupsOf(blocks, () => groupSizes[company()])) {
    const begun = performance.now();
    const refused = await context.store.inOneCommit((store) => importGroup({ ...context, store }, className, lines));
    imported += lines.length - refused.length;
    rejected += refused.length;
    for (const line of refused) events.rejected(line);
    events.progressed(imported);
    // The service's writes have their turn for as long as they have waited.
    if (lines.length <= groupSizes.waiting && company() === 'waiting') await pause(performance.now() - begun);
  }
  return { imported, rejected };
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
      if (group.length < size && length < GROUP_TEXT) continue;
      yield group;
      group = [];
      size = sizeOf();
      length = 0;
    }
  if (group.length > 0) yield group;
}

/** Creates the records of a group. @returns the lines that were refused, in order */
async function importGroup(
  context: RecordContext,
  className: string,
  lines: readonly NumberedLine[],
): Promise<readonly RejectedLine[]> {
  const rejected: RejectedLine[] = [];
  for (let from = 0; from < lines.length; from += SLICE) {
    const slice = lines.slice(from, from + SLICE);
    const done = await Promise.allSettled(slice.map(({ text }) => importLine(context, className, text)));
    done.forEach((line, at) => {
      if (line.status === 'fulfilled') return;
      if (!(line.reason instanceof ServiceError)) throw line.reason;
      rejected.push({ line: slice[at]?.number ?? 0, error: line.reason });
    });
  }
  return rejected;
}

async function importLine(context: RecordContext, className: string, text: Line): Promise<void> {
  if (text === null) return fail('tooLarge');
  const body = parseRequestJson(text, limits.jsonDepth, Number.POSITIVE_INFINITY);
  if (!isJsonObject(body)) return fail('invalidJson', 'a line must hold one JSON object');
  await createRecord(context, className, body);
}
