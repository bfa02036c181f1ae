import { ServiceError, serviceErrorWith } from '../errors/fail.ts';
import type { JsonObject, JsonValue } from '../kernel/json.ts';
import { isoText } from '../kernel/time.ts';
import type { Field, TableSchema, UniqueIndex } from '../schema/model.ts';
import { wireDate, wirePointer } from '../values/json/wire.ts';
import type { StoredValue } from '../values/types/type.ts';

/** A write that a unique index of a table refuses (137). It names fields, which not every caller may know. */
export class DuplicateKey extends ServiceError {
  readonly className: string;
  readonly index: UniqueIndex;

  constructor(className: string, index: UniqueIndex) {
    const { message, details } = serviceErrorWith(
      { fields: [...index.fields] },
      'duplicateKey',
      index.fields.join(', '),
      index.name,
    );
    super('duplicateKey', message, details);
    this.className = className;
    this.index = index;
  }
}

/** Maximum number of values that the refusal of a unique index lists, and of records with one of them. */
export const LISTED = { values: 20, objectIds: 10 } as const;

/** Maximum characters of a listed text. */
const MAX_LISTED_LENGTH = 200;

/** A value that several records have. */
export interface Duplicates {
  /** Of the fields of the index, as the first record has them. */
  readonly values: readonly StoredValue[];
  readonly objectIds: readonly string[];
}

/** Returns the refusal of a unique index that records contradict (137). @param count of all values that occur more than once */
export function contradiction(
  { name, fields }: UniqueIndex,
  indexed: readonly Field[],
  count: number,
  duplicates: readonly Duplicates[],
): ServiceError {
  const listed = duplicates.map(({ values, objectIds }): JsonObject => {
    const wire = indexed.map((field, at) => wireValue(field, values[at] ?? null));
    return { value: wire.length === 1 ? (wire[0] as JsonValue) : wire, objectIds: [...objectIds] };
  });
  return serviceErrorWith({ count, duplicates: listed }, 'contradictedIndex', name, fields.join(', '), count);
}

function wireValue({ type, targetClass = '' }: Field, value: StoredValue): JsonValue {
  if (value === null) return null;
  if (type === 'Date') return wireDate(isoText(Number(value)));
  if (type === 'Pointer') return wirePointer(targetClass, String(value));
  if (type === 'Boolean') return value === true || value === 1;
  if (typeof value !== 'string' || value.length <= MAX_LISTED_LENGTH) return value;
  return `${value.slice(0, MAX_LISTED_LENGTH)}…`;
}

/** Maximum number of records that the refusal of a requirement lists. */
export const LISTED_LACKING = 5;

/** Returns the refusal of a requirement that records do not meet (142). */
export function lacking({ name }: Pick<Field, 'name'>, count: number, objectIds: readonly string[]): ServiceError {
  return serviceErrorWith({ count, objectIds: [...objectIds] }, 'recordsLackField', name, count);
}

/** Returns the fields that records must have a value of after a change, and had not before. */
export function newlyRequired(before: TableSchema | undefined, after: TableSchema): Field[] {
  return [...after.fields.values()].filter(({ name, required }) => required && !before?.fields.get(name)?.required);
}
