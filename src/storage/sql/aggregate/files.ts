import { escapeJson } from '../../../kernel/json.ts';
import type { Aggregation, Column } from '../../../query/aggregate/model.ts';
import { type FileForm, publicFileText } from '../../../values/types/file-text.ts';
import { privateFile, type RowContext } from '../row-layout.ts';
import { bound, type Fragment, sql } from './fragment.ts';

const { opening, between, closing } = publicFileText;

/**
 * Returns the stored value of a File field in its wire form, so that every stage sees its `url`. Values that are not in the stored form stay
 * unchanged (values/types/file-text.ts).
 * @param stored a column
 */
export function publicFile(stored: Fragment, { addresses }: RowContext): Fragment {
  const name = sql`replace(replace(${stored}, '${opening}', ''), '${closing}', '')`;
  const url = bound(`${between}${escapeJson(addresses().public)}/`);
  const shown = sql`'${opening}' || ${name} || ${url} || ${name} || '${closing}'`;
  return sql`CASE WHEN ${stored} = '${opening}' || ${name} || '${closing}' AND ${name} NOT LIKE '%"%' THEN ${shown} ELSE ${stored} END`;
}

/**
 * Returns the output columns that are PrivateFile fields of a known record: the rows must still be records and include their objectId. Otherwise such
 * a file has no address.
 */
export function privateFiles({ table, base, output }: Aggregation, { addresses }: RowContext): ReadonlyMap<Column, FileForm> {
  const forms = new Map<Column, FileForm>();
  const [objectId] = base.find(([, field]) => field.name === 'objectId') ?? [];
  const idAt = output.findIndex(([, column]) => column === objectId);
  if (idAt < 0) return forms;
  for (const [column, field] of base)
    if (field.type === 'PrivateFile') forms.set(column, privateFile(table.className, field.name, idAt, addresses()));
  return forms;
}
