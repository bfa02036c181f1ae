import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { findRows, type RecordContext } from '../../../records/index.ts';
import type { Schema } from '../../../schema/model.ts';
import { keyOf } from './keys.ts';

/** Keys of one query: of one field, and of several, which are a condition each. */
const BATCH = 1_000;
const BATCH_OF_SEVERAL = 200;
/** More records than keys come where several have the same; a few tell that. */
const SPARE = 100;

/** Where records are looked up: what is committed, since reads may not see what a transaction has made so far. */
export interface LookUp {
  /** Of the caller. */
  readonly context: RecordContext;
  /** Before the transaction. */
  readonly schema: Schema;
}

/**
 * The records that have the values of rows, found as the caller: one query for many rows.
 * @param names the fields, by whose values the rows are told apart
 * @returns their objectIds by key; of one that many records have only some
 * @throws permissionDenied (119), timeout (124)
 */
export async function idsByKey(
  { context, schema }: LookUp,
  className: string,
  names: readonly string[],
  rows: ReadonlyMap<string, JsonObject>,
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  const table = schema.tables.get(className);
  if (!table || rows.size === 0 || !names.every((name) => table.fields.has(name))) return found;
  const keys = [...rows.keys()];
  const size = names.length === 1 ? BATCH : BATCH_OF_SEVERAL;
  for (let at = 0; at < keys.length; at += size) await ask(keys.slice(at, at + size));
  return found;

  async function ask(batch: readonly string[]): Promise<void> {
    const limit = 2 * batch.length + SPARE;
    const where = whereOf(
      names,
      batch.map((key) => rows.get(key) as JsonObject),
    );
    const records = await findRows(context, className, { where, keys: [...new Set(['objectId', ...names])], limit });
    if (records.length === limit && batch.length > 1) {
      // Some have so many that others may be missing.
      const half = batch.length >> 1;
      await ask(batch.slice(0, half));
      await ask(batch.slice(half));
      return;
    }
    for (const record of records) {
      const key = keyOf(record, names);
      if (key === null || !rows.has(key)) continue;
      const ids = found.get(key);
      if (ids) ids.push(record.objectId);
      else found.set(key, [record.objectId]);
    }
  }
}

function whereOf(names: readonly string[], rows: readonly JsonObject[]): JsonObject {
  const [name] = names;
  if (names.length === 1 && name !== undefined) return { [name]: { $in: rows.map((row) => row[name] as JsonValue) } };
  return { $or: rows.map((row) => Object.fromEntries(names.map((one) => [one, row[one] as JsonValue]))) };
}
