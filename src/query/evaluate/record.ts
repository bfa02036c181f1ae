import { isJsonObject, type JsonValue, own } from '../../kernel/json.ts';
import type { Field } from '../../schema/model.ts';
import { type StoredValue, storageOf } from '../../values/index.ts';
import type { FieldRef } from '../model/filter.ts';

/** A position in an array; in an object it is an ordinary key. */
const position = /^\d{1,9}$/;

/** Maximum number of steps of one evaluation (a step is a character of a text times a step of a pattern): about 20 ms at worst. */
const MAX_STEPS = 2_000_000;

/** Characters of JSON parsed in the time of one step. */
const JSON_CHARACTERS_PER_STEP = 4;

/** A record by its stored values. JSON is parsed on demand, once for each field. */
export class StoredRecord {
  readonly value: (field: Field) => StoredValue;
  #left = MAX_STEPS;
  readonly #parsed = new Map<Field, JsonValue>();

  /** @param stored the stored value of a field, null if absent */
  constructor(stored: (field: Field) => StoredValue) {
    this.value = stored;
  }

  /** Spends steps of the budget. @returns whether the budget allows them; if not, nothing is spent */
  trySpend(steps: number): boolean {
    if (steps > this.#left) return false;
    this.#left -= steps;
    return true;
  }

  /** Returns the number of characters of a field's stored text, JSON text too; 0 for other values. */
  lengthOf(field: Field): number {
    const value = this.value(field);
    return typeof value === 'string' ? value.length : 0;
  }

  /** Returns the steps of parsing a field's JSON; 0 if it was parsed before. */
  parseSteps(field: Field): number {
    return storageOf(field) === 'json' && !this.#parsed.has(field) ? this.lengthOf(field) / JSON_CHARACTERS_PER_STEP : 0;
  }

  /** Whether there is a value other than null. A Relation is always present (queries.md#comparison). */
  holds(ref: FieldRef): boolean {
    if (ref.path.length > 0) return (this.place(ref) ?? null) !== null;
    return storageOf(ref.field) === 'relation' || this.value(ref.field) !== null;
  }

  /** Returns the value at a place of a json field; undefined if there is none. */
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
