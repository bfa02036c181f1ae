import type { FieldRef } from '../../../query/filter.ts';
import { storageOf } from '../../../values/index.ts';
import type { SqlOut } from '../../sql/dialect.ts';
import { isoTextOf } from './instant.ts';
import { columnOf, placeOf } from './json.ts';

/** The wire value of a field or a place as jsonb, in which equal values are equal; NULL where absent. */
export function writeWireText(out: SqlOut, alias: string, ref: FieldRef): void {
  const column = columnOf(alias, ref.field.column);
  switch (storageOf(ref.field)) {
    case 'json':
      out.add(`(${placeOf(out, alias, ref)})::jsonb`);
      break;
    case 'date':
      out.add(`CASE WHEN ${column} IS NOT NULL THEN jsonb_build_object('__type', 'Date', 'iso', ${isoTextOf(column)}) END`);
      break;
    case 'pointer':
      out.add(`CASE WHEN ${column} IS NOT NULL THEN jsonb_build_object('__type', 'Pointer', 'className', `);
      out.bind(ref.field.targetClass ?? '').add(`::text, 'objectId', ${column}) END`);
      break;
    default:
      out.add(`to_jsonb(${column})`);
  }
}
