import type { CrmContext } from '../../../crm/context.ts';
import { hiddenFields } from '../../../crm/queries/field-visibility.ts';
import { fail } from '../../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import type { TableSchema } from '../../../schema/model.ts';
import { refuse } from '../wire/parameters.ts';

/**
 * Checks that a write names only existing fields that are visible to the caller. Unlike REST, no caller can create fields here.
 * @throws fieldDenied (119), invalidArguments (107)
 */
export function checkFields(context: CrmContext, table: TableSchema, fields: JsonObject): void {
  const hidden = hiddenFields(context, table);
  for (const [name, value] of Object.entries(fields)) {
    if (hidden.has(name)) fail('fieldDenied', name, table.className);
    const field = table.fields.get(name);
    if (!field) refuse(name.slice(0, limits.nameLength), `is no field of ${table.className}`);
    // Only a Relation takes field operators, which add and remove its members.
    if (isOperator(value) && field?.type !== 'Relation') refuse(name, 'must be a value');
  }
}

const isOperator = (value: JsonValue): boolean => isJsonObject(value) && own(value, '__op') !== undefined;
