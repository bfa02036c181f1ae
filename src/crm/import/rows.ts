import { type JsonObject, own } from '../../kernel/json.ts';
import type { CrmContext } from '../context.ts';
import { timeZoneOf } from '../time/time-zone.ts';
import type { Column } from './columns.ts';
import { convert, isEmpty, itemsOf, type Reading } from './convert.ts';
import { dateFormOf } from './dates.ts';
import { type Lookup, linkedTable, lookupOf, targetOf } from './lookups.ts';

/** A flat row as fields in wire form, with all its faults. */
export interface ReadRow {
  readonly fields: JsonObject;
  readonly faults: readonly string[];
}

/** Converts the values of all rows. @throws permissionDenied (119) for a lookup table that the caller may not read */
export async function readFlatRows(
  context: CrmContext,
  columns: readonly Column[],
  rows: readonly JsonObject[],
): Promise<ReadRow[]> {
  const [zone, lookups] = await Promise.all([timeZoneOf(context), lookupsOf(context, columns, rows)]);
  const readings = columns.map(({ column, field }): { column: string; reading: Reading } => {
    const dates = field.type === 'Date' ? dateFormOf(rows.map((row) => own(row, column) ?? null)) : undefined;
    return { column, reading: { field, zone, dates, lookup: lookups.get(linkedTable(field) ?? '') } };
  });
  return rows.map((row) => {
    const fields: JsonObject = {};
    const faults: string[] = [];
    for (const { column, reading } of readings) {
      const converted = convert(own(row, column) ?? null, reading);
      if (converted && 'fault' in converted) faults.push(`${column.slice(0, 100)}: ${converted.fault}`);
      else if (converted) fields[reading.field.name] = converted.value;
    }
    return { fields, faults };
  });
}

/** By table: resolves the names found in all columns of its Pointers. */
async function lookupsOf(
  context: CrmContext,
  columns: readonly Column[],
  rows: readonly JsonObject[],
): Promise<Map<string, Lookup>> {
  const texts = new Map<string, Set<string>>();
  for (const { column, field } of columns) {
    const className = linkedTable(field);
    if (className === undefined) continue;
    const ofTable = texts.get(className) ?? new Set();
    texts.set(className, ofTable);
    for (const row of rows) {
      const value = own(row, column) ?? null;
      for (const item of isEmpty(value) ? [] : field.type === 'Array' ? itemsOf(value) : [value]) {
        const text = targetOf(item, className);
        if (text !== null) ofTable.add(text);
      }
    }
  }
  const lookups = new Map<string, Lookup>();
  for (const [className, names] of texts) lookups.set(className, await lookupOf(context, className, names));
  return lookups;
}
