import type { Mutation } from '../../port.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { SqlWriter, type Statement } from '../../sql/writer.ts';
import { columnArrays } from './column-arrays.ts';

type Insert = Extract<Mutation, { kind: 'insert' }>;

/** Whether both write the same fields of the same table, in the same order. */
export function haveOneShape(a: Insert, b: Insert): boolean {
  return (
    a.table === b.table && a.values.length === b.values.length && a.values.every(([field], at) => field === b.values[at]?.[0])
  );
}

/** The objectId that an insert gives its record. */
export function idOf({ values }: Insert): string {
  return values.find(([{ name }]) => name === 'objectId')?.[1] as string;
}

/**
 * Adds records of one shape, in their order, and returns the ids of those that were not there. One parameter for each column, an array: of
 * the ways to send many rows it was the quickest, and the text is the same for any number of them.
 */
export function compileBulkInsert(inserts: readonly Insert[], dialect: Dialect): Statement {
  const [{ table, values }] = inserts as readonly [Insert, ...Insert[]];
  const fields = values.map(([field]) => field);
  const valuesOf = (at: number) => inserts.map((insert) => (insert.values[at] as Insert['values'][number])[1]);
  const columns = columnArrays(table, fields, valuesOf, dialect);
  const out = new SqlWriter(dialect).add('INSERT INTO ').table(table.sqlName).add(' AS t (');
  columns.forEach(({ name }, at) => {
    out.add(at > 0 ? ', ' : '').name(name);
  });
  const names = columns.map((_, at) => `c${at}`).join(', ');
  out.add(`) SELECT ${names} FROM unnest(`);
  columns.forEach(({ type, literal }, at) => {
    out
      .add(at > 0 ? ', ' : '')
      .bind(literal)
      .add(`::${type}`);
  });
  out.add(`) WITH ORDINALITY AS r (${names}, n) ORDER BY n ON CONFLICT ("objectId") DO NOTHING RETURNING t."objectId"`);
  return out.statement();
}
