import { ServiceError } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { getRow, type RecordContext } from '../../records/index.ts';
import { nameIn, presentName } from '../../schema/former-names.ts';
import type { FieldType } from '../../schema/model.ts';
import { isHidden, secretFieldsOf } from '../../schema/system-tables.ts';
import { pointerOf } from '../../values/types/pointer.ts';
import type { Sources } from '../model/sources.ts';

/** Maximum number of Pointers that a path may follow. Reference: triggers.md#templates. */
const MAX_POINTERS = 3;

interface ReadRecord {
  readonly className: string;
  readonly fields: JsonObject;
}

/** The result of resolving a path. */
export interface FoundValue {
  /** In wire form; `undefined` if absent. */
  readonly value: JsonValue | undefined;
  /** Type of the field that holds the value; `undefined` if the value is inside a field. */
  readonly type: FieldType | undefined;
}

const absent: FoundValue = { value: undefined, type: undefined };

/** Resolves paths in a record and in the records that its Pointers name. Each of these is read once, on first use. */
export class RecordValues {
  readonly #record: ReadRecord;
  readonly #context: RecordContext;
  readonly #sources: Sources | undefined;
  readonly #read = new Map<string, Promise<JsonObject | null>>();

  /**
   * @param context the caller as which referenced records are read
   * @param sources collects each value that is used
   */
  constructor(record: ReadRecord, context: RecordContext, sources?: Sources) {
    this.#record = record;
    this.#context = context;
    this.#sources = sources;
  }

  /**
   * Returns the value at a path; absent for secrets and hidden tables. Pointers are followed only in fields: one inside an Object is data of a client
   * and could name any table.
   * @throws unavailable, timeout of the read
   */
  async at(path: readonly string[]): Promise<FoundValue> {
    let { className, fields } = this.#record;
    for (let from = 0; ; from++) {
      const table = this.#context.store.schema().tables.get(className);
      // A definition, or a record, may have been read before fields were renamed.
      const written = path[from] as string;
      const name = table ? presentName(table, written) : written;
      if (isHidden(className) || secretFieldsOf(className).has(name)) return absent;
      const held = table ? nameIn(fields, table, name) : name;
      await this.#sources?.add(this.#context.store, className, fields, held);
      const value = own(fields, held);
      const type = table?.fields.get(name)?.type;
      const inside = path.slice(from + 1);
      if (inside.length === 0) return { value, type };
      const pointer = type === 'Pointer' ? pointerOf(value ?? null) : undefined;
      if (!pointer) return { value: valueAtPath(value, inside), type: undefined };
      if (inside.length === 1 && inside[0] === 'objectId') return { value: pointer.objectId, type: 'String' };
      const target = from < MAX_POINTERS ? await this.#recordOf(pointer) : null;
      if (!target) return absent;
      ({ className } = pointer);
      fields = target;
    }
  }

  #recordOf({ className, objectId }: Pointer): Promise<JsonObject | null> {
    const key = `${className} ${objectId}`;
    let found = this.#read.get(key);
    if (!found) {
      found = readIfAny(this.#context, className, objectId);
      this.#read.set(key, found);
    }
    return found;
  }
}

interface Pointer {
  readonly className: string;
  readonly objectId: string;
}

/** Returns a record without its secrets; `null` if the caller cannot read it. */
async function readIfAny(context: RecordContext, className: string, objectId: string): Promise<JsonObject | null> {
  try {
    return await getRow(context, className, objectId);
  } catch (error) {
    if (error instanceof ServiceError && (error.key === 'objectNotFound' || error.key === 'permissionDenied')) return null;
    throw error;
  }
}

/** Returns the value at a path inside a value: keys of Objects, positions of Arrays. */
function valueAtPath(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let at = value;
  for (const key of path) {
    if (Array.isArray(at)) at = /^(?:0|[1-9]\d{0,9})$/.test(key) ? at[Number(key)] : undefined;
    else at = isJsonObject(at) ? own(at, key) : undefined;
  }
  return at;
}
