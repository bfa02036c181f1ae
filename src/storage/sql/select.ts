import { type Filter, findSearch, type OrderKey } from '../../query/model/filter.ts';

import type { Query, Selection } from '../../query/model/selection.ts';
import { storageOf } from '../../values/index.ts';
import type { Dialect } from './dialect.ts';
import { writeFilter, writeWhere } from './filter.ts';
import { relationText, rowFields } from './row-layout.ts';
import { writeGuard } from './row-security.ts';
import { writeSource } from './source.ts';
import { isGuarded } from './timing-safe-filter.ts';
import { isRequired, SqlWriter, type Statement } from './writer.ts';

const alias = 't';

/**
 * A list: the records of a query in its order.
 * @param interruptible whether the scan asks, every thousand rows or so, if it may go on
 */
export function compileList(query: Query, dialect: Dialect, interruptible: boolean): Statement {
  const out = new SqlWriter(dialect, interruptible);
  writeColumns(out, query);
  if (query.withScore) writeScore(out.add(', '), query.filter, alias);
  if (query.stride === undefined) writeFrom(out, query);
  else writeStride(out, query, query.stride);
  out.add(' ORDER BY ');
  writeOrder(out, query.order, query.filter, alias, query.stride !== undefined);
  writeLimit(out.add(' LIMIT '), query.limit);
  if (query.skip > 0) out.add(' OFFSET ').bind(query.skip);
  return out.statement();
}

/** Numbers the records by what the order needs alone, and looks up each so many-th. */
function writeStride(out: SqlWriter, query: Query, stride: number): void {
  writeSource(out.add(' FROM '), query.table, query.filter, alias);
  out.add(' WHERE ').column(alias, 'objectId').add(' IN (SELECT id FROM (SELECT ').column(alias, 'objectId');
  out.add(' AS id, row_number() OVER (ORDER BY ');
  writeOrder(out, query.order, query.filter, alias, true);
  writeFrom(out.add(') AS position'), query);
  out.add(') AS numbered WHERE position % ').bind(stride).add(' = 0)');
}

/** Limits that many ask for. */
const usualLimits = [1, 5, 10, 20, 25, 30, 50, 100, 200, 250, 500, 1_000];

/**
 * Limits that are part of the text, each with the next, by which it is seen whether there are more. PostgreSQL makes a plan for many executions
 * only where it knows how few rows are asked for: a list of ten records takes it as long to plan as to run. SQLite plans anew, which takes as
 * long as to read ten, whenever a limit is bound.
 */
const literalLimits: ReadonlySet<number> = new Set(usualLimits.flatMap((limit) => [limit, limit + 1]));

function writeLimit(out: SqlWriter, limit: number): void {
  if (literalLimits.has(limit)) out.add(String(limit));
  else out.bind(Number.isFinite(limit) ? limit : out.dialect.noLimit);
}

/** The number of records of a query, whatever its skip and limit. */
export function compileCount(query: Query, dialect: Dialect, interruptible: boolean): Statement {
  const out = new SqlWriter(dialect, interruptible).add('SELECT count(*)');
  writeFrom(out, query);
  return out.statement();
}

/** The number of records of a query, or `atMost` + 1 where there are more: a count that stops. @param atMost a number of the engine's own */
export function compileCountUpTo(query: Query, atMost: number, dialect: Dialect): Statement {
  const out = new SqlWriter(dialect).add('SELECT count(*) FROM (SELECT 1');
  writeFrom(out, query);
  return out.add(` LIMIT ${atMost + 1}) AS counted`).statement();
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

/** The records among a list of ids (`dialect.list`, still to come), for includes. */
export function compileByIds(selection: Selection, dialect: Dialect): ByIdStatement {
  return compileByKey(selection, dialect, (out) => dialect.isMember(out, () => out.column(alias, 'objectId'), [], 'text'));
}

function compileByKey(selection: Selection, dialect: Dialect, writeKey: (out: SqlWriter) => void): ByIdStatement {
  const out = new SqlWriter(dialect);
  let idsAt = 0;
  writeByKey(out, selection, () => {
    idsAt = out.params.length;
    writeKey(out);
  });
  return { ...out.statement(), idsAt };
}

/** The records of a selection for which a condition holds that `writeKey` writes: one that an index answers. */
export function writeByKey(out: SqlWriter, selection: Selection, writeKey: (alias: string) => void): void {
  writeColumns(out, selection);
  writeSource(out.add(' FROM '), selection.table, selection.filter, alias);
  out.add(' WHERE ');
  writeKey(alias);
  writeRest(out, selection.filter);
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
  writeSource(out.add(' FROM '), selection.table, selection.filter, alias);
  writeWhere(out, selection.filter, alias);
}

function writeRest(out: SqlWriter, filter: Filter): void {
  if (filter.kind === 'always') return;
  out.add(' AND ');
  writeFilter(out, filter, alias);
}

/**
 * Writes the terms of ORDER BY: absent values first ascending and last descending (docs/decisions.md). Without keys, the order of creation.
 * @param filter the query's, which holds the `$text` that a score speaks of
 * @param unindexed whether rows are not to be read in the order of an index
 */
export function writeOrder(out: SqlWriter, order: readonly OrderKey[], filter: Filter, alias: string, unindexed = false): void {
  const before = out.text.length;
  const scored = order.some((key) => key.kind === 'score') && findSearch(filter) !== undefined;
  for (const key of order) {
    if (key.kind === 'score' ? !scored : storageOf(key.ref.field) === 'relation') continue;
    if (out.text.length > before) out.add(', ');
    writeKey(unindexed ? out.add(out.dialect.unindexed) : out, key, filter, alias);
  }
  if (out.text.length === before) out.column(alias, '_seq');
}

function writeKey(out: SqlWriter, key: OrderKey, filter: Filter, alias: string): void {
  if (key.kind === 'score') {
    // `order=$score` asks for the most relevant first, as in Parse.
    writeScore(out, filter, alias);
    out.add(key.descending ? '' : ' DESC').add(out.dialect.nulls(!key.descending));
    return;
  }
  if (storageOf(key.ref.field) === 'json') out.dialect.jsonOrder(out, alias, key.ref);
  else out.column(alias, key.ref.field.column);
  out.add(key.descending ? ' DESC' : '');
  // Databases read an index in an order that says just what the index says, of columns that are never absent too.
  if (!isRequired(key.ref.field)) out.add(out.dialect.nulls(key.descending));
}

/**
 * The relevance of a record to the query's `$text`, higher for better; NULL where there is none. For a caller that may see only some
 * records it is that of the record by itself: how rare a word is in all of them would tell of those that are hidden.
 */
export function writeScore(out: SqlWriter, filter: Filter, alias: string): void {
  const found = findSearch(filter);
  if (found) out.dialect.score(out, alias, found.table, found.search, isGuarded(filter));
  else out.add('NULL');
}
