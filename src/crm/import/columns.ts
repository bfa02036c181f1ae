import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { readLabels } from '../../records/index.ts';
import { isDefaultField } from '../../schema/change.ts';
import type { Field, FieldType, TableSchema } from '../../schema/model.ts';
import { isDescribed } from '../../schema/system-tables.ts';
import type { CrmContext } from '../context.ts';
import { visibleFields } from '../queries/field-visibility.ts';
import { badArguments } from '../refusals.ts';
import { folded } from '../search/text-match.ts';

/** A column of flat rows and the field for its values. */
export interface Column {
  readonly column: string;
  readonly field: Field;
}

/** Resolves the name of a column to a field, or to the reason why it is none. */
export type FieldFinder = (name: string) => Field | { readonly fault: string };

/** Returns a finder by name or label: exact match first, then case-insensitive. */
export async function fieldFinder(context: CrmContext, table: TableSchema): Promise<FieldFinder> {
  const { className, fields } = table;
  const labels = (await readLabels(context.store, className)).get(className);
  // Labels of fields hidden from the caller are not matched: that would reveal them. Their names are refused later.
  const visible = new Set(visibleFields(context, table, fields.keys()));
  const known = [...fields.values()].filter(({ name }) => isDescribed(className, name));
  const labelOf = (name: string) => (visible.has(name) ? labels?.get(name) : undefined);
  const by = (textOf: (field: Field) => string | undefined) => Map.groupBy(known, textOf);
  const ways = [
    { fields: by(({ name }) => name), keyOf: (name: string) => name },
    { fields: by(({ name }) => labelOf(name)?.trim()), keyOf: (name: string) => name.trim() },
    { fields: by(({ name }) => folded(name)), keyOf: folded },
    { fields: by(({ name }) => folded(labelOf(name) ?? '')), keyOf: folded },
  ];
  return (name) => {
    for (const way of name.trim() === '' ? [] : ways) {
      const found = way.fields.get(way.keyOf(name)) ?? [];
      const [only] = found;
      if (only && found.length === 1) return only;
      if (found.length > 1) return { fault: `${shown(name)} is the label of ${found.map((field) => field.name).join(' and ')}` };
    }
    return { fault: `${shown(name)} is no field` };
  };
}

const shown = (name: string): string => JSON.stringify(name.slice(0, 100).toWellFormed());

/** Types for which a flat row has no values. */
const closed: ReadonlySet<FieldType> = new Set(['Relation', 'ACL']);
/** Maximum number of faults, and of field names, in an error. */
const MAX_SHOWN = 20;
const MAX_FIELDS = 100;

/**
 * Returns the columns of all rows, in the order of their first occurrence. All are determined before any row is written.
 * @param fieldMap maps a column to a field, or to `null` to leave it out
 * @throws invalidArguments (107) naming every faulty column
 */
export function columnsOf(
  context: CrmContext,
  table: TableSchema,
  find: FieldFinder,
  rows: readonly JsonObject[],
  fieldMap: JsonObject | undefined,
): Column[] {
  const mapped = new Map(Object.entries(fieldMap ?? {}));
  const columns: Column[] = [];
  const faults: string[] = [];
  const taken = new Map<string, string>();
  for (const column of new Set(rows.flatMap((row) => Object.keys(row)))) {
    if (faults.length === MAX_SHOWN) break;
    const target: JsonValue = mapped.has(column) ? (mapped.get(column) ?? null) : column;
    if (target === null || target === '') continue;
    const field = typeof target === 'string' ? find(target) : { fault: `fieldMap: the field of ${shown(column)} must be a text` };
    const fault = 'fault' in field ? field.fault : faultOf(field, column, taken);
    if (fault !== undefined) faults.push(fault);
    else if ('name' in field) columns.push({ column, field });
  }
  const shownFields = visibleFields(
    context,
    table,
    [...table.fields.values()].filter(isOpen).map(({ name }) => name),
  );
  if (faults.length > 0)
    badArguments(faults.join('; '), {
      expected: `Columns are fields or labels; fieldMap maps others to fields, or to null to leave them out. Fields: ${shownFields
        .slice(0, MAX_FIELDS)
        .join(', ')}`,
      next: 'Get-Schema',
    });
  return columns;
}

const isOpen = ({ name, type }: Field): boolean =>
  name === 'objectId' || !(isDefaultField(name) || closed.has(type) || name.startsWith('_'));

function faultOf(field: Field, column: string, taken: Map<string, string>): string | undefined {
  if (!isOpen(field)) return `${shown(column)}: the field ${field.name} cannot be imported`;
  const other = taken.get(field.name);
  if (other !== undefined) return `${shown(other)} and ${shown(column)} are both the field ${field.name}`;
  taken.set(field.name, column);
  return undefined;
}
