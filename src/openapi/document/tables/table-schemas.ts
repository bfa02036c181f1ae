import type { JsonObject } from '../../../kernel/json.ts';
import { type DescribedField, type DescribedTable, isWriteOnly } from '../../model/table.ts';
import { listOf, schema } from '../shared/refs.ts';
import { pointerTo } from '../shared/values.ts';
import { type IdentifierOf, schemasOf } from './field-schemas.ts';

/** Returns the schemas of a table: record, create, update, where, and its answers. The names are those of the TypeScript types. */
export function schemasOfTable(table: DescribedTable, identifierOf: IdentifierOf): Record<string, JsonObject> {
  const { className, identifier, label, fields } = table;
  const readable = fields.filter(({ name }) => !isWriteOnly(className, name));
  const required = fields.filter(({ isRequired }) => isRequired);
  const mustBeSent = required.filter(({ defaultValue }) => defaultValue === undefined);
  return {
    [`${identifier}Record`]: extended('SystemFields', {
      ...(label !== undefined && { title: label }),
      properties: Object.fromEntries(readable.map((field) => [field.name, readSchema(field, identifierOf)])),
      ...requiring(required),
    }),
    [`${identifier}Create`]: extended('CreateFields', {
      properties: Object.fromEntries(fields.map((field) => [field.name, createSchema(field, identifierOf)])),
      ...requiring(mustBeSent),
    }),
    [`${identifier}Update`]: extended('UpdateFields', {
      properties: Object.fromEntries(fields.map((field) => [field.name, schemasOf(field, identifierOf).change])),
    }),
    [`${identifier}Where`]: extended('Conditions', {
      properties: Object.fromEntries(readable.map((field) => [field.name, schemasOf(field, identifierOf).condition])),
    }),
    [`${identifier}Results`]: {
      type: 'object',
      properties: { results: listOf(schema(`${identifier}Record`)), count: { type: 'integer' } },
      required: ['results'],
    },
  };
}

/** Returns the schema of Pointers to a table. */
export const pointerSchema = (className: string): JsonObject => pointerTo({ type: 'string', enum: [className] });

const extended = (base: string, { title, ...own }: JsonObject): JsonObject => ({
  ...(title !== undefined && { title }),
  allOf: [schema(base), { type: 'object', ...own }],
});

/** A JSON Schema must not have an empty `required` in its earlier drafts. */
const requiring = (fields: readonly DescribedField[]): JsonObject =>
  fields.length === 0 ? {} : { required: fields.map(({ name }) => name) };

const readSchema = (field: DescribedField, identifierOf: IdentifierOf): JsonObject => ({
  ...schemasOf(field, identifierOf).read,
  ...(field.label !== undefined && { title: field.label }),
});

function createSchema(field: DescribedField, identifierOf: IdentifierOf): JsonObject {
  const { defaultValue } = field;
  return { ...schemasOf(field, identifierOf).write, ...(defaultValue !== undefined && { default: defaultValue }) };
}
