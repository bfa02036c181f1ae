import type { Filter } from '../../query/filter.ts';
import type { Query, Selection } from '../../query/selection.ts';
import type { Dialect } from './dialect.ts';
import { writeFilter, writeWhere } from './filter.ts';
import { writeOrder } from './order.ts';
import { writeScore } from './score.ts';
import { rowFields } from './shape.ts';
import { SqlWriter, type Statement } from './writer.ts';

const alias = 't';

/**
 * A list: the records of a query in its order.
 * @param interruptible whether the scan asks, every thousand rows or so, if it may go on
 */
export function compileList(query: Query, dialect: Dialect, interruptible: boolean): Statement {
  const out = new SqlWriter(dialect, interruptible);
  writeColumns(out, query);
  if (query.withScore) writeScore(out.add(', '), query.filter, alias);
  writeFrom(out, query);
  out.add(' ORDER BY ');
  writeOrder(out, query.order, query.filter, alias);
  out.add(' LIMIT ').bind(Number.isFinite(query.limit) ? query.limit : -1);
  if (query.skip > 0) out.add(' OFFSET ').bind(query.skip);
  return out.statement();
}

/** The number of records of a query, whatever its skip and limit. */
export function compileCount(query: Query, dialect: Dialect, interruptible: boolean): Statement {
  const out = new SqlWriter(dialect, interruptible).add('SELECT count(*)');
  writeFrom(out, query);
  return out.statement();
}

/** The number of records of a query, or `atMost` + 1 where there are more: a count that stops. */
export function compileCountUpTo(query: Query, atMost: number, dialect: Dialect): Statement {
  const out = new SqlWriter(dialect).add('SELECT count(*) FROM (SELECT 1');
  writeFrom(out, query);
  return out
    .add(' LIMIT ')
    .bind(atMost + 1)
    .add(')')
    .statement();
}

/** One record; the objectId is the first parameter, before those of the filter. */
export function compileGet(selection: Selection, dialect: Dialect): Statement {
  const out = new SqlWriter(dialect);
  writeColumns(out, selection);
  out.add(' FROM ').name(selection.table.sqlName).add(` AS ${alias} WHERE `).column(alias, 'objectId').add(' = ').bind('');
  writeRest(out, selection.filter);
  return out.statement();
}

/** The records among a list of ids (JSON array text, the first parameter), for includes. */
export function compileByIds(selection: Selection, dialect: Dialect): Statement {
  const out = new SqlWriter(dialect);
  writeColumns(out, selection);
  out.add(' FROM ').name(selection.table.sqlName).add(` AS ${alias} WHERE `);
  dialect.isMember(out, () => out.column(alias, 'objectId'), [], 'text');
  writeRest(out, selection.filter);
  return out.statement();
}

function writeColumns(out: SqlWriter, selection: Selection): void {
  out.add('SELECT ');
  rowFields(selection).forEach((field, index) => {
    if (index > 0) out.add(', ');
    out.column(alias, field.column);
  });
}

function writeFrom(out: SqlWriter, selection: Selection): void {
  out.add(' FROM ').name(selection.table.sqlName).add(` AS ${alias}`);
  writeWhere(out, selection.filter, alias);
}

function writeRest(out: SqlWriter, filter: Filter): void {
  if (filter.kind === 'always') return;
  out.add(' AND ');
  writeFilter(out, filter, alias);
}
