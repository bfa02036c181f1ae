import { isEverAllowed } from '../../../access/index.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { type DescribedField, type DescribedTable, isWriteOnly } from '../../model/table.ts';
import { schema } from '../components/refs.ts';
import { pointerTo } from '../components/values.ts';
import { type FieldSchemas, type IdentifierOf, schemasOf } from './field-schemas.ts';

/**
 * Returns the schemas of a table: fields, record, create, update, where. The names are those of the TypeScript types, but for
 * `Fields`, which has what records and creates share, so that the description of 200 tables stays small.
 */
export function schemasOfTable(table: DescribedTable, identifierOf: IdentifierOf): Record<string, JsonObject> {
  const { className, identifier, label, fields } = table;
  const schemas = new Map(fields.map((field) => [field.name, schemasOf(field, identifierOf)]));
  const of = (kind: keyof FieldSchemas, { name }: DescribedField) => schemas.get(name)?.[kind] ?? {};
  const readable = fields.filter(({ name }) => !isWriteOnly(className, name));
  const isShared = (field: DescribedField) => !isWriteOnly(className, field.name) && of('read', field) === of('write', field);
  const shared = fields.filter(isShared);
  const own = fields.filter((field) => !isShared(field));
  const required = fields.filter(({ isRequired }) => isRequired);
  const mustBeSent = required.filter(({ defaultValue }) => defaultValue === undefined);
  const fieldsOf = (some: readonly DescribedField[], kind: keyof FieldSchemas) =>
    propertiesOf(some.map((field) => [field.name, titled(field, of(kind, field))]));
  const plainFieldsOf = (some: readonly DescribedField[], kind: keyof FieldSchemas) =>
    propertiesOf(some.map((field) => [field.name, of(kind, field)]));
  const common = schema(`${identifier}Fields`);
  return {
    [`${identifier}Fields`]: { type: 'object', ...fieldsOf(shared, 'read') },
    [`${identifier}Record`]: {
      ...(label !== undefined && { title: label }),
      ...together('SystemValues', common, {
        ...fieldsOf(
          own.filter(({ name }) => !isWriteOnly(className, name)),
          'read',
        ),
        ...requiring(required),
      }),
    },
    ...(isEverAllowed('create', className) && {
      [`${identifier}Create`]: together('CreateOptions', common, { ...fieldsOf(own, 'write'), ...requiring(mustBeSent) }),
    }),
    ...(isEverAllowed('update', className) && {
      [`${identifier}Update`]: together('UpdateOptions', plainFieldsOf(fields, 'change')),
    }),
    [`${identifier}Where`]: together('Conditions', plainFieldsOf(readable, 'condition')),
  };
}

/** Returns the schema of Pointers to a table. */
export const pointerSchema = (className: string): JsonObject => pointerTo({ type: 'string', enum: [className] });

/** Returns a schema of all of these; empty ones are left out. */
const together = (base: string, ...parts: readonly JsonObject[]): JsonObject => ({
  // All are objects, as the first one is.
  allOf: [schema(base), ...parts.filter((part) => Object.keys(part).length > 0)],
});

const propertiesOf = (properties: readonly (readonly [string, JsonObject])[]): JsonObject =>
  properties.length === 0 ? {} : { properties: Object.fromEntries(properties) };

/** A JSON Schema must not have an empty `required` in its earlier drafts. */
const requiring = (fields: readonly DescribedField[]): JsonObject =>
  fields.length === 0 ? {} : { required: fields.map(({ name }) => name) };

const titled = ({ label, defaultValue }: DescribedField, value: JsonObject): JsonObject => ({
  ...value,
  ...(label !== undefined && { title: label }),
  ...(defaultValue !== undefined && { default: defaultValue }),
});
