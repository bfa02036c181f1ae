import type { JsonObject } from '../../../kernel/json.ts';
import { memoByObject } from '../../../kernel/memo.ts';
import { isSilencingFlag } from '../../../records/index.ts';
import { defaultFields } from '../../../schema/defaults.ts';
import type { Field, TableSchema } from '../../../schema/model.ts';
import { isSystemField, secretFieldsOf } from '../../../schema/system-tables.ts';
import type { Coercion, ValueSource } from './coercion.ts';
import { coercionOf } from './coercions.ts';

/** A field that a form may set. */
interface Slot {
  readonly field: Field;
  readonly coerce: Coercion;
}

type Slots = ReadonlyMap<string, Slot>;

/** The accepted fields by source; cached per table schema. */
const slotsOf: Readonly<Record<ValueSource, (table: TableSchema) => Slots>> = {
  lead: memoByObject((table) => makeSlots(table, 'lead')),
  account: memoByObject((table) => makeSlots(table, 'account')),
  row: memoByObject((table) => makeSlots(table, 'row')),
};

/**
 * Converts the fields that a form sends for a record to wire values. Keys that are not fields, system fields and keys with a special meaning are
 * ignored.
 * Reference: functions.md#form-values.
 * @param sent only its own keys count
 * @param prefix of the keys for this record
 * @returns wire values by field; null for values stored as null
 * @throws schemaMismatch and other errors of `values/` (111, 105, 121)
 */
export function coerce(table: TableSchema, source: ValueSource, sent: JsonObject, prefix = ''): JsonObject {
  const slots = slotsOf[source](table);
  const fields: JsonObject = {};
  for (const key of Object.keys(sent)) {
    if (!key.startsWith(prefix)) continue;
    const slot = slots.get(prefix === '' ? key : key.slice(prefix.length));
    const value = sent[key];
    if (slot === undefined || value === undefined || value === null || value === '') continue;
    const coerced = slot.coerce(value, slot.field, table.className);
    if (coerced !== undefined) fields[slot.field.name] = coerced;
  }
  return fields;
}

function makeSlots(table: TableSchema, source: ValueSource): Slots {
  const fields = [...table.fields.values()].filter((field) => isOpen(table.className, field.name, source));
  return new Map(fields.map((field) => [field.name, { field, coerce: coercionIn(table.className, field, source) }]));
}

/** `SaleStatusId` in Sales is always ignored (functions.md#web2case-and-web2sale). */
const isIgnored = (className: string, name: string, source: ValueSource) =>
  source === 'row' && className === 'Sales' && name === 'SaleStatusId';

function isOpen(className: string, name: string, source: ValueSource): boolean {
  if (defaultFields.has(name) || name.startsWith('_') || isSilencingFlag(name)) return false;
  return !secretFieldsOf(className).has(name) && !isSystemField(className, name) && !isIgnored(className, name, source);
}

/** Fields that the server sets are validated like others, then ignored (functions.md#getlead). */
function coercionIn(className: string, field: Field, source: ValueSource): Coercion {
  const coercion = coercionOf(field, source);
  if (className !== 'Accounts' || !isServerControlled(field.name, source)) return coercion;
  return (value, of, table) => {
    coercion(value, of, table);
    return undefined;
  };
}

/** `fromWeb2lead` marks leads of `getlead`, so no other form may set it. */
const isServerControlled = (name: string, source: ValueSource) =>
  name === 'fromWeb2lead' || (source === 'lead' && name === 'IsAccount');
