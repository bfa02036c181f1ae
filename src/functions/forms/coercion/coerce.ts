import type { JsonObject } from '../../../kernel/json.ts';
import { memoByObject } from '../../../kernel/memo.ts';
import { isSilencingFlag } from '../../../records/index.ts';
import { defaultFields } from '../../../schema/defaults.ts';
import type { Field, TableSchema } from '../../../schema/model.ts';
import { isSystemField, secretFieldsOf } from '../../../schema/system-tables.ts';
import type { Coercion, Place } from './coercion.ts';
import { coercionOf } from './coercions.ts';

/** A field that a form may name. */
interface Slot {
  readonly field: Field;
  readonly coerce: Coercion;
}

type Slots = ReadonlyMap<string, Slot>;

/** What a table takes at a place, made once for each version of its schema. */
const slotsOf: Readonly<Record<Place, (table: TableSchema) => Slots>> = {
  lead: memoByObject((table) => makeSlots(table, 'lead')),
  account: memoByObject((table) => makeSlots(table, 'account')),
  row: memoByObject((table) => makeSlots(table, 'row')),
};

/**
 * The fields that a form sends for a record, as the record pipeline takes them. Keys that the schema has not, system fields and keys with a
 * meaning of their own are passed over (SPEC "Server-side functions").
 * @param sent looked at by its own keys
 * @param prefix of the keys that speak of this record
 * @returns wire values by field; null for what is stored as null
 * @throws schemaMismatch and other errors of `values/` (111, 105, 121)
 */
export function coerce(table: TableSchema, place: Place, sent: JsonObject, prefix = ''): JsonObject {
  const slots = slotsOf[place](table);
  const fields: JsonObject = {};
  for (const key of Object.keys(sent)) {
    if (!key.startsWith(prefix)) continue;
    const slot = slots.get(prefix === '' ? key : key.slice(prefix.length));
    const value = sent[key];
    if (slot === undefined || value === undefined || value === null || value === '') continue;
    const taken = slot.coerce(value, slot.field, table.className);
    if (taken !== undefined) fields[slot.field.name] = taken;
  }
  return fields;
}

function makeSlots(table: TableSchema, place: Place): Slots {
  const fields = [...table.fields.values()].filter((field) => isOpen(table.className, field.name, place));
  return new Map(fields.map((field) => [field.name, { field, coerce: coercionIn(table.className, field, place) }]));
}

/** SPEC "Form-layer value coercion": `SaleStatusId` in Sales is always dropped. */
const isDropped = (className: string, name: string, place: Place) =>
  place === 'row' && className === 'Sales' && name === 'SaleStatusId';

function isOpen(className: string, name: string, place: Place): boolean {
  if (defaultFields.has(name) || name.startsWith('_') || isSilencingFlag(name)) return false;
  return !secretFieldsOf(className).has(name) && !isSystemField(className, name) && !isDropped(className, name, place);
}

/** SPEC "`getlead`": what the server sets is checked like any other, then passed over. */
function coercionIn(className: string, field: Field, place: Place): Coercion {
  const coercion = coercionOf(field, place);
  if (className !== 'Accounts' || !isServerControlled(field.name, place)) return coercion;
  return (value, of, table) => {
    coercion(value, of, table);
    return undefined;
  };
}

/** `fromWeb2lead` tells of `getlead` alone, so that no other form may set it. */
const isServerControlled = (name: string, place: Place) => name === 'fromWeb2lead' || (place === 'lead' && name === 'IsAccount');
