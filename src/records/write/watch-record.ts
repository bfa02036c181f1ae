import type { JsonObject } from '../../kernel/json.ts';
import type { Store } from '../../storage/port.ts';
import { isOperator } from '../../values/index.ts';
import type { RecordContext } from '../context/context.ts';
import type { Attempt, SeenWrite } from '../context/write-hooks.ts';
import { readRow } from '../read/system-reads.ts';

/** What a watch saw, and the version of the record that the commit must find. */
interface Seen {
  readonly seen?: SeenWrite;
  /** As in `RuledFields`. */
  readonly version?: number;
}

const unwatched: Seen = {};

/** A write that is being prepared. */
interface WatchedWrite {
  readonly className: string;
  readonly objectId: string;
  /** The fields as the client sent them. */
  readonly fields: JsonObject;
}

/** Returns what observers get of a create; without a read. */
export function watchCreate({ hooks }: RecordContext, { className, fields }: Omit<WatchedWrite, 'objectId'>): Seen {
  return hooks.watch?.watches(className) ? { seen: { before: null, asked: fields } } : unwatched;
}

/**
 * Reads a record before an update or delete, if a watch wants to know how it was. Without a watch of the table it costs a look-up.
 * @param earlier writes of the same commit, which the read does not see
 */
export function watchRecord(
  context: RecordContext,
  action: 'update' | 'remove',
  write: WatchedWrite,
  earlier: Attempt['earlier'],
): Seen | Promise<Seen> {
  const names = context.hooks.watch?.fieldsFor(write.className, action, write.fields);
  return names ? readSeen(context.store, names, write, earlier) : unwatched;
}

async function readSeen(
  store: Store,
  names: readonly string[],
  { className, objectId, fields: asked }: WatchedWrite,
  earlier: Attempt['earlier'],
): Promise<Seen> {
  const row = await readRow<JsonObject>(store, className, names, objectId);
  const own = earlier.filter((one) => one.className === className && one.objectId === objectId);
  // The commit checks the version by the first of several writes of the record.
  if (own.length > 0) return { seen: { before: Object.assign({}, row, ...own.map(({ fields }) => plainOf(fields))), asked } };
  const updatedAt = row?.updatedAt;
  return { seen: { before: row, asked }, ...(typeof updatedAt === 'string' && { version: Date.parse(updatedAt) }) };
}

/** Returns the fields that were set to values, which are known before the commit. */
const plainOf = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => !isOperator(value)));
