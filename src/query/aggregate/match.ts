import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import { isoText } from '../../kernel/time.ts';
import type { Field, Schema, TableSchema } from '../../schema/model.ts';
import { wireDate, wirePointer } from '../../values/json/wire.ts';
import { pointerAt } from '../model/names.ts';
import { literalFor, literalOf } from './literal.ts';
import { aliasOf } from './names.ts';

const logical: ReadonlySet<string> = new Set(['$and', '$or', '$nor']);

/**
 * Converts a `$match` over records to a `where`: Parse's storage names become field names; ISO text for a Date and `Class$id` for a Pointer
 * become full objects, behind Pointers too. Errors are left to `parseWhere`.
 */
export function whereOfMatch(match: JsonObject, table: TableSchema, schema: Schema): JsonObject {
  const entries = Object.entries(match).map(([key, value]): [string, JsonValue] => {
    if (logical.has(key) && Array.isArray(value))
      return [key, value.map((branch) => (isJsonObject(branch) ? whereOfMatch(branch, table, schema) : branch))];
    const name = table.fields.has(key) ? key : aliasOf(key);
    const field = fieldAt(name, table, schema);
    return [name, field && (field.type === 'Date' || field.type === 'Pointer') ? constraintOn(field, value) : value];
  });
  // One field may come under two of its names.
  if (new Set(entries.map(([name]) => name)).size < entries.length)
    return { $and: entries.map((entry) => Object.fromEntries([entry])) };
  return Object.fromEntries(entries);
}

/** Returns the field that a name leads to; `undefined` for places inside a field. */
function fieldAt(name: string, table: TableSchema, schema: Schema): Field | undefined {
  for (let left = { name, table }; ; ) {
    const through = pointerAt(left.name, left.table);
    const target = through && schema.tables.get(through.pointer.targetClass ?? '');
    if (!target) return left.table.fields.get(left.name);
    left = { name: through.rest, table: target };
  }
}

/** Converts the operands of a constraint, or the bare value, to full objects. */
function constraintOn(field: Field, value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item) => constraintOn(field, item));
  if (!isJsonObject(value)) return inFull(field, value);
  if (!Object.keys(value).some((key) => key.startsWith('$'))) return value;
  return Object.fromEntries(
    Object.entries(value).map(([operator, operand]) => [
      operator,
      operator === '$regex' ? operand : constraintOn(field, operand),
    ]),
  );
}

function inFull(field: Field, value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value;
  const literal = literalFor(literalOf(value), {
    kind: field.type === 'Date' ? 'date' : 'pointer',
    targetClass: field.targetClass ?? '',
  });
  if (literal.kind === 'date') return wireDate(isoText(literal.value as number));
  if (literal.kind === 'pointer') return wirePointer(field.targetClass ?? '', literal.value as string);
  return value;
}
