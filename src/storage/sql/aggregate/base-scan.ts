import type { Aggregation, Column } from '../../../query/aggregate/model.ts';
import type { Field } from '../../../schema/model.ts';
import { writeWhere } from '../filter.ts';
import type { RowContext } from '../row-layout.ts';
import { writeSource } from '../row-source.ts';
import type { SqlWriter } from '../sql-writer.ts';
import type { AggregateDialect } from './dialect.ts';
import { publicFile } from './files.ts';
import { bound, columnName, type Fragment, sql, writeFragment } from './fragment.ts';

const alias = 't';

/** Writes the scan that all stages build on: the columns of the records that any stage uses. */
export function writeBase(
  out: SqlWriter,
  aggregation: Aggregation,
  used: ReadonlySet<Column>,
  dialect: AggregateDialect,
  rows: RowContext,
): void {
  const start = out.add('SELECT ').text.length;
  const add = (column: Column, value: Fragment) => {
    if (!used.has(column)) return;
    if (out.text.length > start) out.add(', ');
    writeFragment(out, sql`${value} AS ${columnName(column)}`);
  };
  add(aggregation.sequence, [`${alias}."_seq"`]);
  for (const [column, field] of aggregation.base) add(column, stored(out, field, column.kind, dialect, rows));
  if (out.text.length === start) out.add('NULL AS "none"');
  writeSource(out.add(' FROM '), aggregation.table, aggregation.filter, alias);
  writeWhere(out, aggregation.filter, alias);
}

/** Every record has an ACL and its Relations on the wire, whether or not a value is stored. */
function stored(out: SqlWriter, field: Field, kind: Column['kind'], dialect: AggregateDialect, rows: RowContext): Fragment {
  if (field.type === 'Relation')
    return dialect.typed(kind, bound(JSON.stringify({ __type: 'Relation', className: field.targetClass ?? '' })));
  const value = dialect.typed(kind, [`${alias}.${out.dialect.quoted(field.column)}`]);
  if (field.type === 'File') return publicFile(value, rows);
  return field.type === 'ACL' ? sql`coalesce(${value}, '{}')` : value;
}
