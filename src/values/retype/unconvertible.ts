import { type ServiceError, serviceError } from '../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { isoText } from '../../kernel/time.ts';
import { typeText } from '../../schema/model.ts';
import type { StoredValue } from '../types/type.ts';
import { type Conversion, conversionOf, type Typed } from './conversions.ts';

/** Records that the error of a refused conversion names. */
export const MAX_EXAMPLES = 5;
/** Characters of a text in such an example. */
const MAX_EXAMPLE_LENGTH = 100;

/** Converts the values of one field, and notes those that cannot be converted. */
export class ValueConverter {
  readonly #name: string;
  readonly #from: Typed;
  readonly #to: Typed;
  readonly #convert: Conversion;
  readonly #isRequired: boolean;
  readonly #examples: JsonObject[] = [];
  #count = 0;

  /**
   * @param isRequired whether a value must not become absent
   * @throws Error if there is no conversion, which is a bug
   */
  constructor(name: string, from: Typed, to: Typed, isRequired = false) {
    const convert = conversionOf(from, to);
    if (!convert) throw new Error(`${from.type} cannot become ${to.type}`);
    this.#name = name;
    this.#from = from;
    this.#to = to;
    this.#convert = convert;
    this.#isRequired = isRequired;
  }

  /** Number of values that could not be converted. */
  get failures(): number {
    return this.#count;
  }

  /** Returns the new value, `null` for one that cannot be converted. */
  convert(objectId: string, value: StoredValue): StoredValue {
    if (value === null) return null;
    const converted = this.#convert(value);
    if (converted !== undefined && !(converted === null && this.#isRequired)) return converted;
    this.fail(objectId, value);
    return null;
  }

  /** Notes values that cannot be converted. @param count of records, of which this is one */
  fail(objectId: string, value: StoredValue, count = 1): void {
    this.#count += count;
    if (this.#examples.length < MAX_EXAMPLES) this.#examples.push({ objectId, value: this.#shown(value) });
  }

  /** Returns the refusal of a conversion in which values cannot be converted. */
  refusal(): ServiceError {
    const { type, targetClass } = this.#to;
    const error = serviceError('cannotConvert', this.#count, this.#name, typeText(type, targetClass));
    error.details = { cannotConvert: this.#count, examples: this.#examples };
    return error;
  }

  #shown(value: StoredValue): JsonValue {
    if (typeof value === 'string') return value.slice(0, MAX_EXAMPLE_LENGTH).toWellFormed();
    return this.#from.type === 'Date' && typeof value === 'number' ? isoText(value) : value;
  }
}
