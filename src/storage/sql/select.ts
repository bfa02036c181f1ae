import type { Filter } from '../../query/filter.ts';
import type { Query, Selection } from '../../query/selection.ts';
import type { Dialect } from './dialect.ts';
import { writeFilter, writeWhere } from './filter.ts';
import { writeGuard } from './guard.ts';
import { writeOrder } from './order.ts';
import { writeScore } from './score.ts';
import { relationText, rowFields } from './shape.ts';
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
  out.add(' LIMIT ').bind(Number.isFinite(query.limit) ? query.limit : dialect.noLimit);
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

/** A statement for one id, or a list of ids, that are still to come. */
export interface ByIdStatement extends Statement {
  /** Which of the parameters they are. */
  readonly idsAt: number;
}

/** One record; its objectId is still to come. */
export function compileGet(selection: Selection, dialect: Dialect): ByIdStatement {
  return compileByKey(selection, dialect, (out) => out.column(alias, 'objectId').add(' = ').bind(''));
}

/** The records among a list of ids (JSON array text, still to come), for includes. */
export function compileByIds(selection: Selection, dialect: Dialect): ByIdStatement {
  return compileByKey(selection, dialect, (out) => dialect.isMember(out, () => out.column(alias, 'objectId'), [], 'text'));
}

function compileByKey(selection: Selection, dialect: Dialect, writeKey: (out: SqlWriter) => void): ByIdStatement {
  const out = new SqlWriter(dialect);
  writeColumns(out, selection);
  out.add(' FROM ').table(selection.table.sqlName).add(` AS ${alias} WHERE `);
  const idsAt = out.params.length;
  writeKey(out);
  writeRest(out, selection.filter);
  return { ...out.statement(), idsAt };
}

function writeColumns(out: SqlWriter, selection: Selection): void {
  out.add('SELECT ');
  rowFields(selection).forEach((field, index) => {
    if (index > 0) out.add(', ');
    const shownIn = selection.shownIn?.get(field.name);
    if (!shownIn) {
      out.column(alias, field.column);
      return;
    }
    // A value that is hidden never leaves the store, so that nothing further on can show or expand it.
    writeGuard(out.add('CASE WHEN '), shownIn, selection.table, alias);
    out.add(' THEN ');
    if (field.type === 'Relation') out.bind(relationText(field));
    else out.column(alias, field.column);
    out.add(' END');
  });
}

function writeFrom(out: SqlWriter, selection: Selection): void {
  out.add(' FROM ').table(selection.table.sqlName).add(` AS ${alias}`);
  writeWhere(out, selection.filter, alias);
}

function writeRest(out: SqlWriter, filter: Filter): void {
  if (filter.kind === 'always') return;
  out.add(' AND ');
  writeFilter(out, filter, alias);
}
