import { isJsonObject, type JsonValue, own } from '../../kernel/json.ts';
import type { Field } from '../../schema/model.ts';
import { type StoredValue, storageOf } from '../../values/index.ts';
import type { FieldRef } from '../model/filter.ts';

/** A position in an array; in an object it is a key like others. */
const position = /^\d{1,9}$/;

/** Steps of one evaluation, such as a character of a text by a step of a pattern: some 20 ms at worst. */
const MAX_STEPS = 2_000_000;

/** Characters of JSON that are read in the time of one step. */
const CHARACTERS_READ = 4;

/** A record by its stored values. JSON is taken apart when it is asked for, once for each field. */
export class StoredRecord {
  readonly value: (field: Field) => StoredValue;
  #left = MAX_STEPS;
  readonly #parsed = new Map<Field, JsonValue>();

  /** @param stored the stored value of a field, null where absent */
  constructor(stored: (field: Field) => StoredValue) {
    this.value = stored;
  }

  /** Counts steps of work on the record. @returns whether the event loop can spare them; where not, nothing was counted */
  affords(steps: number): boolean {
    if (steps > this.#left) return false;
    this.#left -= steps;
    return true;
  }

  /** Characters of a field's stored text, JSON text too; 0 for all else. */
  lengthOf(field: Field): number {
    const value = this.value(field);
    return typeof value === 'string' ? value.length : 0;
  }

  /** Steps until a field's places are known: JSON is read quickly, once. */
  unread(field: Field): number {
    return storageOf(field) === 'json' && !this.#parsed.has(field) ? this.lengthOf(field) / CHARACTERS_READ : 0;
  }

  /** Whether there is a value other than null. A Relation is always there (docs/decisions.md "Records"). */
  holds(ref: FieldRef): boolean {
    if (ref.path.length > 0) return (this.place(ref) ?? null) !== null;
    return storageOf(ref.field) === 'relation' || this.value(ref.field) !== null;
  }

  /** The value at a place of a json field; undefined where there is none. */
  place({ field, path }: FieldRef): JsonValue | undefined {
    let value = this.#json(field);
    for (const label of path) {
      if (Array.isArray(value)) value = position.test(label) ? value[Number(label)] : undefined;
      else value = isJsonObject(value) ? own(value, label) : undefined;
    }
    return value;
  }

  #json(field: Field): JsonValue | undefined {
    const known = this.#parsed.get(field);
    if (known !== undefined) return known;
    const text = this.value(field);
    if (typeof text !== 'string') return undefined;
    const parsed = JSON.parse(text) as JsonValue;
    this.#parsed.set(field, parsed);
    return parsed;
  }
}
