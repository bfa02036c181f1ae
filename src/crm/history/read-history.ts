import type { Grant } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, own } from '../../kernel/json.ts';
import type { TableSchema } from '../../schema/model.ts';
import { causeField } from '../../schema/system-tables.ts';
import type { CrmContext } from '../context.ts';
import { findRows, type Row } from '../queries/records.ts';
import { unless } from '../refusals.ts';
import { pointedAt, wireDate } from '../wire/values.ts';
import { ChangeWalk, type Entry } from './change-walk.ts';
import { rowsOf, TIMELINE } from './past.ts';

/** Rows that are read at once, and at most for one reading. */
const BATCH_SIZE = 200;
export const MAX_ROWS_READ = 5_000;
/** Characters of them: each may hold what a form takes, a megabyte, and all are kept until what was there before is known. */
const MAX_BATCH_TEXT = 4 * 1024 * 1024;
const MAX_TEXT_READ = 32 * 1024 * 1024;

const keys = ['event', 'user', 'data', 'Referer'] as const;

/** A row of the timeline: those before it are older. */
export interface HistoryPlace {
  /** ISO 8601. */
  readonly at: string;
  readonly objectId: string;
}

/** What is asked of a record's history. */
export interface HistoryQuery {
  readonly about: TableSchema;
  readonly objectId: string;
  /** To the record's past (`grantOfPast`). */
  readonly grant: Grant;
  /** Left out: all that the caller sees. */
  readonly fields?: readonly string[] | undefined;
  /** Left out: the newest. */
  readonly before?: HistoryPlace | undefined;
  /** So many entries are enough. */
  readonly needed: number;
}

/** Entries, the newest first. */
export interface History {
  readonly entries: readonly Entry[];
  /** The last row that was looked at, where older ones were not since there are too many; `null` else. */
  readonly cutAt: HistoryPlace | null;
}

/**
 * Reads the rows of a record until so many changes are known, and what was there before them. Hidden fields are hidden in what was, too.
 * @throws fieldDenied (119) for one that is asked for; timeout (124) where nobody waits any more; what `findRows` throws
 */
export async function readHistory(context: CrmContext, query: HistoryQuery): Promise<History> {
  const { about, objectId, before, needed } = query;
  const history = new ChangeWalk(wanted(query));
  const where = before ? { $and: [rowsOf(about, objectId), olderThan(before)] } : rowsOf(about, objectId);
  let last: Row | undefined;
  let limit = BATCH_SIZE;
  for (let [read, text] = [0, 0]; read < MAX_ROWS_READ && text < MAX_TEXT_READ; ) {
    const skip = read;
    const most = limit > 1 ? MAX_BATCH_TEXT : undefined;
    const ask = { where, keys, order: '-createdAt,-objectId', skip, limit, most };
    const rows = await unless(limit > 1 ? ['resultTooLarge'] : [], null, () => findRows(context, TIMELINE, ask));
    if (!rows) {
      limit = Math.ceil(limit / 8);
      continue;
    }
    for (const row of rows) {
      history.add(row);
      text += JSON.stringify(row).length;
    }
    read += rows.length;
    last = rows.at(-1) ?? last;
    if (rows.length < limit) return { entries: history.known(true), cutAt: null };
    const known = history.known(false);
    if (known.length >= needed) return { entries: known, cutAt: null };
    if (context.signal.aborted) fail('timeout');
  }
  return { entries: history.known(true), cutAt: last ? placeOf(last) : null };
}

/** Where a row is. */
export const placeOf = ({ createdAt, objectId }: Row): HistoryPlace => ({ at: String(createdAt), objectId });

function olderThan({ at, objectId }: HistoryPlace): JsonObject {
  const date = wireDate(at);
  return { $or: [{ createdAt: { $lt: date } }, { createdAt: date, objectId: { $lt: objectId } }] };
}

function wanted({ about, grant: { hiddenFields }, fields }: HistoryQuery): (field: string) => boolean {
  const denied = fields?.find((name) => hiddenFields.has(name));
  if (denied !== undefined) fail('fieldDenied', denied, about.className);
  const asked = fields && new Set(fields);
  const isOwn = about.fields.has(causeField);
  return (field) => !hiddenFields.has(field) && (asked?.has(field) ?? true) && (isOwn || field !== causeField);
}

/** Who wrote, and by what, as a row has it. */
export interface WriteCause {
  /** `master` for keys. */
  readonly userId?: string;
  readonly referer?: string;
  readonly triggerId?: string;
}

/** What a row of the timeline tells of its write. */
export function causeOf({ user, data, Referer }: Row): WriteCause {
  const userId = pointedAt(user);
  const trigger = isJsonObject(data) ? own(data, causeField) : undefined;
  return {
    ...(userId !== undefined && { userId }),
    ...(typeof Referer === 'string' && { referer: Referer }),
    ...(typeof trigger === 'string' && { triggerId: trigger }),
  };
}
