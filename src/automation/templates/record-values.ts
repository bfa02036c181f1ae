import { ServiceError } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { getRow, type RecordContext } from '../../records/index.ts';
import type { FieldType } from '../../schema/model.ts';
import { isHidden, secretFieldsOf } from '../../schema/system-tables.ts';
import { pointerOf } from '../../values/types/pointer.ts';
import type { Sources } from '../model/sources.ts';

/** Pointers that a path may follow (docs/decisions.md "Triggers": templates). */
const MAX_POINTERS = 3;

interface ReadRecord {
  readonly className: string;
  readonly fields: JsonObject;
}

/** What is at a place. */
export interface FoundValue {
  /** In wire form; `undefined` where there is none. */
  readonly value: JsonValue | undefined;
  /** Of the field that holds it; `undefined` where it is inside one. */
  readonly type: FieldType | undefined;
}

const nothing: FoundValue = { value: undefined, type: undefined };

/** The values of a record, and of those that its Pointers name. Each of these is read once, when it is first asked for. */
export class RecordValues {
  readonly #record: ReadRecord;
  readonly #context: RecordContext;
  readonly #sources: Sources | undefined;
  readonly #read = new Map<string, Promise<JsonObject | null>>();

  /**
   * @param context as whom the records that Pointers name are read
   * @param sources takes note of each value
   */
  constructor(record: ReadRecord, context: RecordContext, sources?: Sources) {
    this.#record = record;
    this.#context = context;
    this.#sources = sources;
  }

  /**
   * The value at a place; none where it is nobody's to see: secrets, hidden tables. Pointers are followed where they are fields: one inside an
   * Object is data of a client's, and could name any table.
   * @throws unavailable, timeout of the read
   */
  async at(path: readonly string[]): Promise<FoundValue> {
    let { className, fields } = this.#record;
    for (let from = 0; ; from++) {
      const name = path[from] as string;
      if (isHidden(className) || secretFieldsOf(className).has(name)) return nothing;
      await this.#sources?.add(this.#context.store, className, fields, name);
      const value = own(fields, name);
      const type = this.#context.store.schema().tables.get(className)?.fields.get(name)?.type;
      const inside = path.slice(from + 1);
      if (inside.length === 0) return { value, type };
      const pointer = type === 'Pointer' ? pointerOf(value ?? null) : undefined;
      if (!pointer) return { value: placeIn(value, inside), type: undefined };
      if (inside.length === 1 && inside[0] === 'objectId') return { value: pointer.objectId, type: 'String' };
      const target = from < MAX_POINTERS ? await this.#recordOf(pointer) : null;
      if (!target) return nothing;
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

/** A record without its secrets; `null` where there is none for the caller. */
async function readIfAny(context: RecordContext, className: string, objectId: string): Promise<JsonObject | null> {
  try {
    return await getRow(context, className, objectId);
  } catch (error) {
    if (error instanceof ServiceError && (error.key === 'objectNotFound' || error.key === 'permissionDenied')) return null;
    throw error;
  }
}

/** What is at a place inside a value: keys of Objects, positions of Arrays. */
function placeIn(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let at = value;
  for (const key of path) {
    if (Array.isArray(at)) at = /^(?:0|[1-9]\d{0,9})$/.test(key) ? at[Number(key)] : undefined;
    else at = isJsonObject(at) ? own(at, key) : undefined;
  }
  return at;
}
