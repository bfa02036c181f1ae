import type { Mutation } from '../../port.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { SqlWriter, type Statement } from '../../sql/sql-writer.ts';
import { arrayLiteral } from '../sql/arrays.ts';
import { columnArrays } from './column-arrays.ts';

type Insert = Extract<Mutation, { kind: 'insert' }>;

/** The insert of a record, and the inserts folded into its statement (folded-steps.ts). */
export type Inserts = readonly [Insert, ...Insert[]];

/** Returns whether both write the same fields of the same tables, in the same order. */
export function haveOneShape(a: Inserts, b: Inserts): boolean {
  return a.length === b.length && a.every((insert, at) => isLike(insert, b[at] as Insert));
}

function isLike(a: Insert, b: Insert): boolean {
  return (
    a.table === b.table && a.values.length === b.values.length && a.values.every(([field], at) => field === b.values[at]?.[0])
  );
}

/** Returns the objectId of an insert's record. */
export function idOf({ values }: Insert): string {
  return values.find(([{ name }]) => name === 'objectId')?.[1] as string;
}

/**
 * Compiles inserts of one shape into a statement that adds them in order and returns the ids of those that contradicted no unique index; the folded
 * inserts of the others are skipped. Binds an array for each column: that was the fastest way to send many rows, and the text does not depend on their
 * number.
 * @param strict whether the statement fails if one of them exists
 */
export function compileBulkInsert(writes: readonly Inserts[], dialect: Dialect, strict = false): Statement {
  const [first] = writes as readonly [Inserts, ...Inserts[]];
  const out = new SqlWriter(dialect);
  const conflict = strict ? '' : ` ON CONFLICT${first[0].table.uniqueIndexes.size > 0 ? '' : ' ("objectId")'} DO NOTHING`;
  const nth = (at: number) => writes.map((inserts) => inserts[at] as Insert);
  if (first.length === 1) {
    writeRows(out, nth(0), null);
    return out.add(`${conflict} RETURNING t."objectId"`).statement();
  }
  writeRows(out.add('WITH added AS ('), nth(0), null);
  out.add(`${conflict} RETURNING t."objectId")`);
  const of = nth(0).map(idOf);
  for (let at = 1; at < first.length; at++) {
    writeRows(out.add(`, along${at} AS (`), nth(at), of);
    out.add(')');
  }
  return out.add(' SELECT "objectId" FROM added').statement();
}

/** @param of the record of each row; rows of records that were not added are skipped. `null`: add all rows */
function writeRows(out: SqlWriter, inserts: readonly Insert[], of: readonly string[] | null): void {
  const [{ table, values }] = inserts as Inserts;
  const fields = values.map(([field]) => field);
  const valuesOf = (at: number) => inserts.map((insert) => (insert.values[at] as Insert['values'][number])[1]);
  const columns = columnArrays(table, fields, valuesOf, out.dialect);
  out.add('INSERT INTO ').table(table.sqlName).add(' AS t (');
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
  if (of) out.add(', ').bind(arrayLiteral(of)).add('::text[]');
  out.add(`) WITH ORDINALITY AS r (${names}, ${of ? 'record, ' : ''}n)`);
  if (of) out.add(' WHERE record IN (SELECT "objectId" FROM added)');
  out.add(' ORDER BY n');
}
