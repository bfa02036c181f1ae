import type { CrmContext } from '../../../crm/context.ts';
import { hiddenFields } from '../../../crm/queries/field-visibility.ts';
import { fail } from '../../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import type { TableSchema } from '../../../schema/model.ts';
import { refuse } from '../wire/parameters.ts';

/**
 * Makes sure that a write names fields that the table has, and that the caller may know of: it makes none, whoever he is.
 * @throws fieldDenied (119), invalidArguments (107)
 */
export function checkFields(context: CrmContext, table: TableSchema, fields: JsonObject): void {
  const hidden = hiddenFields(context, table);
  for (const [name, value] of Object.entries(fields)) {
    if (hidden.has(name)) fail('fieldDenied', name, table.className);
    const field = table.fields.get(name);
    if (!field) refuse(name.slice(0, limits.nameLength), `is no field of ${table.className}`);
    // Members of a Relation are added and removed; whatever else is written is a value.
    if (isOperator(value) && field?.type !== 'Relation') refuse(name, 'must be a value');
  }
}

const isOperator = (value: JsonValue): boolean => isJsonObject(value) && own(value, '__op') !== undefined;
