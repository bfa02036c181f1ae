import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import type { Store } from '../../storage/port.ts';
import { readFirst } from './system-reads.ts';
import { versionedCache } from './versioned-cache.ts';

/** A row of `Config`. */
export interface ConfigRow {
  readonly value: JsonObject | null;
  /** objectId of the last writer; `null` if a key wrote it last, or the service created it and it was never changed. */
  readonly writer: string | null;
}

/** A row as read. */
interface StoredConfig {
  readonly Value?: JsonObject;
  readonly createdBy?: JsonValue;
  readonly updatedBy?: JsonValue;
}

/**
 * Returns a row of `Config`, or `null` if there is none; of several rows with the same name the one created first counts.
 * Cached until the table is written to. Reference: system-tables.md#config.
 * @param name a flag that the service knows, such as `AcceptWebLeads`
 */
export const configRow: (store: Store, name: string) => Promise<ConfigRow | null> = versionedCache(
  'Config',
  async (store, value) => {
    const query = { className: 'Config', field: 'Name', value, fields: ['Value', 'createdBy', 'updatedBy'] };
    const row = await readFirst<StoredConfig>(store, query);
    return row && { value: row.Value ?? null, writer: userIn(row.updatedBy ?? row.createdBy) };
  },
);

/** Returns the `Value` of a row of `Config`; `null` if there is none. See `configRow`. */
export const configFlag = async (store: Store, name: string): Promise<JsonObject | null> =>
  (await configRow(store, name))?.value ?? null;

/** Returns the objectId of a user; `null` for the master. */
function userIn(pointer: JsonValue | undefined): string | null {
  const objectId = isJsonObject(pointer) ? pointer.objectId : null;
  return typeof objectId === 'string' && objectId !== 'master' ? objectId : null;
}
