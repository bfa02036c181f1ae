import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import type { Store } from '../../storage/port.ts';
import { readFirst } from './system-reads.ts';
import { remembering } from './versioned-cache.ts';

/** A row of `Config`. */
export interface ConfigRow {
  readonly value: JsonObject | null;
  /** objectId of who wrote the row last; `null`: a key did, or the service made it and nobody has changed it. */
  readonly writer: string | null;
}

/** A row as it is read. */
interface StoredConfig {
  readonly Value?: JsonObject;
  readonly createdBy?: JsonValue;
  readonly updatedBy?: JsonValue;
}

/**
 * A row of `Config`; `null` where there is none. SPEC "`Config`": of several rows of a name the one created first counts.
 * Remembered until anybody writes to the table.
 * @param name a flag that the service knows, such as `AcceptWebLeads`
 */
export const configRow: (store: Store, name: string) => Promise<ConfigRow | null> = remembering(
  'Config',
  async (store, value) => {
    const query = { className: 'Config', field: 'Name', value, fields: ['Value', 'createdBy', 'updatedBy'] };
    const row = await readFirst<StoredConfig>(store, query);
    return row && { value: row.Value ?? null, writer: userIn(row.updatedBy ?? row.createdBy) };
  },
);

/** The `Value` of a row of `Config`; `null` where there is none. See `configRow`. */
export const configFlag = async (store: Store, name: string): Promise<JsonObject | null> =>
  (await configRow(store, name))?.value ?? null;

/** The objectId of a user; `null` for the master. */
function userIn(pointer: JsonValue | undefined): string | null {
  const objectId = isJsonObject(pointer) ? pointer.objectId : null;
  return typeof objectId === 'string' && objectId !== 'master' ? objectId : null;
}
