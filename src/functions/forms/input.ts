import { fail } from '../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { digitsOf } from '../../kernel/phone-key.ts';
import type { RecordContext } from '../../records/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import { isHidden, isSystemTable } from '../../schema/system-tables.ts';
import type { Store } from '../../storage/port.ts';

/** Whether an input was sent: null and texts of nothing but white space count as missing (docs/decisions.md "Functions and forms"). */
export function isThere(value: JsonValue | undefined): value is Exclude<JsonValue, null> {
  return value !== undefined && value !== null && (typeof value !== 'string' || value.trim() !== '');
}

/** A telephone number or an e-mail address as text, since clients send some as numbers; `null` for anything else. */
export function textOf(value: JsonValue | undefined): string | null {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value : null;
}

/** SPEC "`getlead`": `ValidatePhoneOrEmail`; SPEC "Limits". */
export function isValidPhone(value: JsonValue | undefined): boolean {
  const digits = digitsOf(textOf(value) ?? '').length;
  return digits >= 7 && digits <= 14;
}

/** SPEC "`getlead`": `ValidatePhoneOrEmail`; SPEC "Limits". */
export function isValidEmail(value: JsonValue | undefined): boolean {
  if (typeof value !== 'string' || value.length < 6 || value.length > 80) return false;
  return value.includes('@') && value.includes('.');
}

/** Sets what the service itself says of a record, where the table has a field for it. */
export function setBoolean(table: TableSchema, fields: JsonObject, name: string, value: boolean): void {
  if (table.fields.get(name)?.type === 'Boolean') fields[name] = value;
}

/**
 * A function of the service itself.
 * @param context the system's records, with full rights
 * @returns the body of the answer
 */
export type FormFunction = (context: RecordContext, input: JsonObject) => Promise<JsonValue>;

/** The table that a form writes to; never one of the service's own. @param className may come from outside @throws classMissing (103) */
export function openTable(store: Store, className: string): TableSchema {
  const isOwn = isSystemTable(className) || isHidden(className);
  const table = isOwn ? undefined : store.schema().tables.get(className);
  return table ?? fail('classMissing', className.slice(0, limits.nameLength));
}
