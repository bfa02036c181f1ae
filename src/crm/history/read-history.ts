import type { Grant } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, own } from '../../kernel/json.ts';
import { presentName } from '../../schema/former-names.ts';
import { rootOf, type TableSchema } from '../../schema/model.ts';
import { causeField } from '../../schema/system-tables.ts';
import type { CrmContext } from '../context.ts';
import { findRows, type Row } from '../queries/records.ts';
import { unless } from '../refusals.ts';
import { pointedAt, wireDate } from '../wire/values.ts';
import { ChangeWalk, type Entry } from './change-walk.ts';
import { rowsOf, TIMELINE } from './past.ts';

/** Rows per read, and per call. */
const BATCH_SIZE = 200;
export const MAX_ROWS_READ = 5_000;
/** JSON characters per read and per call. A row may hold a form body of 1 MB, and all rows stay in memory until previous values are known. */
const MAX_BATCH_TEXT = 4 * 1024 * 1024;
const MAX_TEXT_READ = 32 * 1024 * 1024;

const keys = ['event', 'user', 'data', 'Referer'] as const;

/** The position of a row in the timeline; older rows come before it. */
export interface HistoryPlace {
  /** ISO 8601. */
  readonly at: string;
  readonly objectId: string;
}

/** A query for a record's history. */
export interface HistoryQuery {
  readonly about: TableSchema;
  readonly objectId: string;
  /** The caller's rights to the record's past (`grantOfPast`). */
  readonly grant: Grant;
  /** All fields that the caller sees, if absent. */
  readonly fields?: readonly string[] | undefined;
  /** Starts at the newest row if absent. */
  readonly before?: HistoryPlace | undefined;
  /** Number of entries after which reading may stop. */
  readonly needed: number;
}

/** Entries, the newest first. */
export interface History {
  readonly entries: readonly Entry[];
  /** The last row read if older rows were left unread because of the limits; else `null`. */
  readonly cutAt: HistoryPlace | null;
}

/**
 * Reads rows until enough changes and their previous values are known. Hidden fields are hidden in the past too.
 * @throws fieldDenied (119) for a requested hidden field; timeout (124) if the caller stopped waiting; what `findRows` throws
 */
export async function readHistory(context: CrmContext, query: HistoryQuery): Promise<History> {
  const { about, objectId, before, needed } = query;
  const history = new ChangeWalk(wanted(query));
  const where = before ? { $and: [rowsOf(about, objectId), olderThan(before)] } : rowsOf(about, objectId);
  let last: Row | undefined;
  let limit = BATCH_SIZE;
  for (let [read, text] = [0, 0]; read < MAX_ROWS_READ && text < MAX_TEXT_READ; ) {
    const skip = read;
    const maxChars = limit > 1 ? MAX_BATCH_TEXT : undefined;
    const ask = { where, keys, order: '-createdAt,-objectId', skip, limit, maxChars };
    const rows = await unless(limit > 1 ? ['resultTooLarge'] : [], null, () => findRows(context, TIMELINE, ask));
    if (!rows) {
      limit = Math.ceil(limit / 8);
      continue;
    }
    for (const row of rows) {
      history.add(withPresentNames(about, row));
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

/** Rows name fields as they were called when they were written. */
function withPresentNames(about: TableSchema, row: Row): Row {
  const data = own(row, 'data');
  if (about.formerNames.size === 0 || !isJsonObject(data)) return row;
  const present = Object.entries(data).map(([name, value]) => {
    const root = rootOf(name);
    return [`${presentName(about, root)}${name.slice(root.length)}`, value];
  });
  return { ...row, data: Object.fromEntries(present) };
}

/** The position of a row. */
export const placeOf = ({ createdAt, objectId }: Row): HistoryPlace => ({ at: String(createdAt), objectId });

function olderThan({ at, objectId }: HistoryPlace): JsonObject {
  const date = wireDate(at);
  return { $or: [{ createdAt: { $lt: date } }, { createdAt: date, objectId: { $lt: objectId } }] };
}

function wanted({ about, grant: { hiddenFields }, fields }: HistoryQuery): (field: string) => boolean {
  const denied = fields?.find((name) => hiddenFields.has(name));
  if (denied !== undefined) fail('fieldDenied', denied, about.className);
  const requested = fields && new Set(fields);
  const isOwn = about.fields.has(causeField);
  return (field) => !hiddenFields.has(field) && (requested?.has(field) ?? true) && (isOwn || field !== causeField);
}

/** The user and the cause of a write, from its row. */
export interface WriteCause {
  /** `master` for a key. */
  readonly userId?: string;
  readonly referer?: string;
  readonly triggerId?: string;
}

/** Returns the user and the cause of a write. */
export function causeOf({ user, data, Referer }: Row): WriteCause {
  const userId = pointedAt(user);
  const trigger = isJsonObject(data) ? own(data, causeField) : undefined;
  return {
    ...(userId !== undefined && { userId }),
    ...(typeof Referer === 'string' && { referer: Referer }),
    ...(typeof trigger === 'string' && { triggerId: trigger }),
  };
}
