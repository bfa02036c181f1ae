import type { Filter } from '../query/filter.ts';
import type { FieldLabels } from '../schema/describe.ts';
import type { Field, Schema, TableSchema } from '../schema/model.ts';
import { type Store, wholeText } from '../storage/port.ts';
import { underSchema } from './replan.ts';

/** Labels by table, then by field. */
export type Labels = ReadonlyMap<string, FieldLabels>;

interface LabelRow {
  readonly tblName?: string;
  readonly field?: string;
  readonly value?: string;
}

/**
 * Reads the labels of fields from `_Dictionary` (SPEC "Other system tables"). Of several rows for a field the one created first counts.
 * @param className the table whose labels are wanted; all tables' where it is left out
 */
export async function readLabels(store: Store, className?: string): Promise<Labels> {
  const labels = new Map<string, Map<string, string>>();
  for (const row of JSON.parse(await underSchema(store, (schema) => readRows(store, schema, className))) as LabelRow[])
    addLabel(labels, row);
  return labels;
}

async function readRows(store: Store, schema: Schema, className: string | undefined): Promise<string> {
  const dictionary = schema.tables.get('_Dictionary');
  const fields = dictionary && dictionaryFields(dictionary);
  if (!dictionary || !fields) return '[]';
  const [, tblName] = fields;
  const filter: Filter =
    className === undefined ? { kind: 'always' } : { kind: 'compare', field: tblName, op: 'eq', value: className };
  const { results } = await store.reader.find({
    table: dictionary,
    fields,
    filter,
    includes: [],
    order: [],
    skip: 0,
    limit: Number.POSITIVE_INFINITY,
    count: false,
    withScore: false,
  });
  return wholeText(results);
}

function addLabel(labels: Map<string, Map<string, string>>, { tblName, field, value }: LabelRow): void {
  if (tblName === undefined || field === undefined || value === undefined) return;
  const ofTable = labels.get(tblName) ?? new Map<string, string>();
  labels.set(tblName, ofTable);
  if (!ofTable.has(field)) ofTable.set(field, value);
}

/** `undefined` where the table has lost the form that labels need. */
function dictionaryFields(table: TableSchema): [Field, Field, Field, Field] | undefined {
  const [objectId, tblName, field, value] = ['objectId', 'tblName', 'field', 'value'].map((name) => table.fields.get(name));
  return objectId && tblName && field && value ? [objectId, tblName, field, value] : undefined;
}
