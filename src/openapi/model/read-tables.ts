import { mayKnowTable, requireKey } from '../../access/index.ts';
import { TABLE_ITSELF } from '../../crm/schema/dictionary.ts';
import { allLabels, type TableLabels } from '../../crm/schema/labels.ts';
import { multiSelectTarget } from '../../crm/wire/multi-select.ts';
import { fail } from '../../errors/fail.ts';
import type { RecordContext } from '../../records/index.ts';
import { defaultFields } from '../../schema/defaults.ts';
import type { Field, Schema, TableSchema } from '../../schema/model.ts';
import { isDescribed } from '../../schema/system-tables.ts';
import { byCodeUnits, identifiersOf } from './names.ts';
import type { DescribedField, DescribedTable } from './table.ts';

/** What a description of a system is made of, at one moment. */
export interface SystemTables {
  readonly schema: Schema;
  readonly labels: ReadonlyMap<string, TableLabels>;
  /** The tables that are described, by name. */
  readonly selected: readonly TableSchema[];
  /** Identifiers of all tables that the caller may know, in order of their names. They are unique, so that a selection changes none. */
  readonly identifiers: ReadonlyMap<string, string>;
}

/**
 * Returns the tables of a system that a description is asked for.
 * @param names left out or empty: all tables
 * @throws masterKeyRequired (403), classMissing (103)
 */
export async function selectTables({ store, principal }: RecordContext, names: readonly string[] = []): Promise<SystemTables> {
  requireKey(principal);
  const labels = await allLabels(store);
  const schema = store.durableSchema();
  const known = [...schema.tables.values()].filter((table) => mayKnowTable(principal, table));
  known.sort((one, other) => byCodeUnits(one.className, other.className));
  const identifiers = identifiersOf(known.map(({ className }) => className));
  if (names.length === 0) return { schema, labels, selected: known, identifiers };
  const asked = new Set(names);
  const selected = known.filter(({ className }) => asked.delete(className));
  for (const name of asked) fail('classMissing', name);
  return { schema, labels, selected, identifiers };
}

/** Returns a function that describes tables. */
export function describerOf({ labels, identifiers }: SystemTables): (table: TableSchema) => DescribedTable {
  return (table) => {
    const { className, permissions, uniqueIndexes } = table;
    const ofTable = labels.get(className);
    const label = ofTable?.get(TABLE_ITSELF);
    const fields = [...table.fields.values()].filter(({ name }) => !defaultFields.has(name) && isDescribed(className, name));
    return {
      className,
      identifier: identifiers.get(className) ?? className,
      ...(label !== undefined && { label }),
      fields: fields.map((field) => describeField(field, ofTable)).sort((one, other) => byCodeUnits(one.name, other.name)),
      permissions,
      uniqueIndexes: [...uniqueIndexes.values()],
    };
  };
}

function describeField(field: Field, labels: TableLabels | undefined): DescribedField {
  const { name, type, defaultValue } = field;
  const target = field.targetClass ?? multiSelectTarget(field);
  const label = labels?.get(name);
  return {
    name,
    type,
    ...(target !== undefined && { target }),
    ...(label !== undefined && { label }),
    isRequired: field.required === true,
    ...(defaultValue !== undefined && { defaultValue }),
  };
}
