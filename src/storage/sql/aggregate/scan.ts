import type { Aggregation, Column } from '../../../query/aggregate/model.ts';
import type { Field } from '../../../schema/model.ts';
import { writeWhere } from '../filter.ts';
import type { SqlWriter } from '../writer.ts';
import { columnName } from './fragment.ts';

const alias = 't';

/** The scan that all stages stand on: the columns of the records that any of them uses. */
export function writeBase(out: SqlWriter, aggregation: Aggregation, used: ReadonlySet<Column>): void {
  const start = out.add('SELECT ').text.length;
  const add = (column: Column, write: () => void) => {
    if (!used.has(column)) return;
    if (out.text.length > start) out.add(', ');
    write();
    out.add(` AS ${columnName(column)}`);
  };
  add(aggregation.sequence, () => out.column(alias, '_seq'));
  for (const [column, field] of aggregation.base) add(column, () => writeField(out, field));
  if (out.text.length === start) out.add('NULL AS "none"');
  out.add(' FROM ').table(aggregation.table.sqlName).add(` AS ${alias}`);
  writeWhere(out, aggregation.filter, alias);
}

/** Every record has an ACL and its Relations on the wire, whether or not anything is stored. */
function writeField(out: SqlWriter, field: Field): void {
  if (field.type === 'Relation') out.bind(JSON.stringify({ __type: 'Relation', className: field.targetClass ?? '' }));
  else if (field.type === 'ACL') out.add('coalesce(').column(alias, field.column).add(", '{}')");
  else out.column(alias, field.column);
}
