import { type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
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
  const others = earlier.filter((one) => one.className === className && one.objectId === objectId);
  // The commit checks the version by the first of several writes of the record.
  if (others.length > 0) return { seen: { before: afterWrites(row, others), asked } };
  const updatedAt = row?.updatedAt;
  return { seen: { before: row, asked }, ...(typeof updatedAt === 'string' && { version: Date.parse(updatedAt) }) };
}

/** Returns a record as writes leave it, as far as that is known before the commit: what they set to values, also in places inside fields. */
function afterWrites(row: JsonObject | null, writes: Attempt['earlier']): JsonObject {
  const record: JsonObject = structuredClone(row ?? {});
  for (const { fields } of writes)
    for (const [key, value] of Object.entries(fields)) if (!isOperator(value)) setPlace(record, key.split('.'), value);
  return record;
}

/** Sets a place inside a record, in the record. Names of its parts are no prototype members (`forbiddenKeys`). */
function setPlace(record: JsonObject, path: readonly string[], value: JsonValue): void {
  let part = record;
  for (const name of path.slice(0, -1)) {
    let next = own(part, name) ?? null;
    if (typeof next !== 'object' || next === null) next = part[name] = {};
    // Elements of an Array are members, too.
    part = next as JsonObject;
  }
  part[path.at(-1) as string] = structuredClone(value);
}
