import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { findRows, type RecordContext } from '../../../records/index.ts';
import type { Schema } from '../../../schema/model.ts';
import { keyOf } from './keys.ts';

/** Keys per query: for a single field, and for several fields, which need one condition per key. */
const BATCH_SIZE = 1_000;
const MULTI_FIELD_BATCH_SIZE = 200;
/** Records read beyond one per key, to detect keys that several records have. */
const SPARE = 100;

/** Context of lookups. They see committed data only, since reads may not see the writes of an open transaction. */
export interface LookUp {
  /** With the caller's rights. */
  readonly context: RecordContext;
  /** The schema before the transaction. */
  readonly schema: Schema;
}

/**
 * Finds existing records that have the values of rows, as the caller: one query for many rows.
 * @param names fields to compare
 * @returns objectIds by key; for a key that many records have, only some of them
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
  const size = names.length === 1 ? BATCH_SIZE : MULTI_FIELD_BATCH_SIZE;
  for (let at = 0; at < keys.length; at += size) await queryBatch(keys.slice(at, at + size));
  return found;

  async function queryBatch(batch: readonly string[]): Promise<void> {
    const limit = 2 * batch.length + SPARE;
    const where = whereOf(
      names,
      batch.map((key) => rows.get(key) as JsonObject),
    );
    const records = await findRows(context, className, { where, keys: [...new Set(['objectId', ...names])], limit });
    if (records.length === limit && batch.length > 1) {
      // Keys with many records may have displaced others; retry in halves.
      const half = batch.length >> 1;
      await queryBatch(batch.slice(0, half));
      await queryBatch(batch.slice(half));
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
