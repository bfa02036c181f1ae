import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import type { FieldType } from '../../../schema/model.ts';
import { isSystemTable } from '../../../schema/system-tables.ts';
import type { DescribedField, DescribedTable } from '../../model/table.ts';
import { exampleDate } from '../components/values.ts';

/** The bodies of requests that the service takes as they are. */
export interface TableExamples {
  readonly create: JsonObject;
  readonly update: JsonObject;
}

/** Number of fields that an example shows beside the required ones. */
const SHOWN_FIELDS = 2;

const values: Partial<Record<FieldType, JsonValue>> = {
  String: 'Example',
  'HTML/XML': '<p>Example</p>',
  Number: 1,
  Boolean: true,
  Date: exampleDate,
  Object: { key: 'value' },
  Array: [],
};

/** Returns examples of a table; `undefined` if its records are made by rules of their own, or need another record. */
export function examplesOf({ className, fields, uniqueIndexes }: DescribedTable): TableExamples | undefined {
  if (className === '_User') return ofUser;
  if (className === '_Role') return { create: { name: 'Example' }, update: { ACL: {} } };
  if (isSystemTable(className)) return undefined;
  const example = (field: DescribedField): JsonValue | undefined => field.defaultValue ?? values[field.type];
  const unique = new Set(uniqueIndexes.flatMap((index) => index.fields));
  const required = fields.filter(({ isRequired, defaultValue }) => isRequired && defaultValue === undefined);
  if (required.some((field) => example(field) === undefined)) return undefined;
  const isPlain = ({ type, name }: DescribedField) => /^(?:String|Number|Boolean|Date)$/.test(type) && !unique.has(name);
  const shown = fields.filter((field) => isPlain(field) && !required.includes(field)).slice(0, SHOWN_FIELDS);
  const bodyOf = (of: readonly DescribedField[]): JsonObject =>
    Object.fromEntries(of.map((field) => [field.name, example(field) ?? null]));
  return { create: bodyOf([...required, ...shown]), update: bodyOf(shown.slice(0, 1)) };
}

const ofUser: TableExamples = {
  create: { username: 'example@example.com', password: 'Spring-2026', name: 'Example' },
  update: { name: 'Another example' },
};
