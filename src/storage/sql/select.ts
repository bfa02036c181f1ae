import { type FieldRef, type Filter, findSearch, type OrderKey, type PointerStep } from '../../query/model/filter.ts';
import type { Query, Selection } from '../../query/model/selection.ts';
import { storageOf } from '../../values/index.ts';
import type { Dialect } from './dialect.ts';
import { writeFilter, writeWhere } from './filter.ts';
import { relationText, rowFields } from './row-layout.ts';
import { writeGuard } from './row-security.ts';
import { writeSource } from './row-source.ts';
import { isRequired, SqlWriter, type Statement } from './sql-writer.ts';
import { isGuarded } from './timing-safe-filter.ts';

const alias = 't';

/**
 * Compiles a list: the records of a query in its order.
 * @param interruptible whether the scan checks its time limit, about every thousand rows
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

/** Numbers the records using only the columns of the order, then looks up every n-th one. */
function writeStride(out: SqlWriter, query: Query, stride: number): void {
  writeSource(out.add(' FROM '), query.table, query.filter, alias);
  out.add(' WHERE ').column(alias, 'objectId').add(' IN (SELECT id FROM (SELECT ').column(alias, 'objectId');
  out.add(' AS id, row_number() OVER (ORDER BY ');
  writeOrder(out, query.order, query.filter, alias, true);
  writeFrom(out.add(') AS position'), query);
  out.add(') AS numbered WHERE position % ').bind(stride).add(' = 0)');
}

/** Limits that clients commonly use. */
const commonLimits = [1, 5, 10, 20, 25, 30, 50, 100, 200, 250, 500, 1_000];

/**
 * Limits written as literals, each with its successor, which reveals whether there are more records. With a bound limit, PostgreSQL cannot cache a
 * plan for few rows, and planning a list of ten takes as long as running it; SQLite prepares again, which takes as long as reading ten.
 */
const literalLimits: ReadonlySet<number> = new Set(commonLimits.flatMap((limit) => [limit, limit + 1]));

function writeLimit(out: SqlWriter, limit: number): void {
  if (literalLimits.has(limit)) out.add(String(limit));
  else out.bind(Number.isFinite(limit) ? limit : out.dialect.noLimit);
}

/** Compiles the count of a query's records, ignoring skip and limit. */
export function compileCount(query: Query, dialect: Dialect, interruptible: boolean): Statement {
  const out = new SqlWriter(dialect, interruptible).add('SELECT count(*)');
  writeFrom(out, query);
  return out.statement();
}

/** Compiles a count that stops at `atMost` + 1. @param atMost a number chosen by the engine, not by a client: it becomes part of the text */
export function compileCountUpTo(query: Query, atMost: number, dialect: Dialect, interruptible = false): Statement {
  const out = new SqlWriter(dialect, interruptible).add('SELECT count(*) FROM (SELECT 1');
  writeFrom(out, query);
  return out.add(` LIMIT ${atMost + 1}) AS counted`).statement();
}

/** A statement whose id, or list of ids, is bound later. */
export interface ByIdStatement extends Statement {
  /** Index of the parameter to bind. */
  readonly idsAt: number;
}

/** Compiles a read of one record; its objectId is bound later. */
export function compileGet(selection: Selection, dialect: Dialect): ByIdStatement {
  return compileByKey(selection, dialect, (out) => out.column(alias, 'objectId').add(' = ').bind(''));
}

/** Compiles a read of the records among a list of ids (`dialect.list`, bound later), for includes. */
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

/** Writes a read of a selection's records under a condition that `writeKey` writes and an index answers. */
export function writeByKey(out: SqlWriter, selection: Selection, writeKey: (alias: string) => void): void {
  writeColumns(out, selection);
  writeSource(out.add(' FROM '), selection.table, selection.filter, alias);
  out.add(' WHERE ');
  writeKey(alias);
  writeRest(out, selection.filter, alias);
}

function writeColumns(out: SqlWriter, selection: Selection): void {
  out.add('SELECT ');
  rowFields(selection).forEach((field, index) => {
    if (index > 0) out.add(', ');
    const visibleIn = selection.visibleIn?.get(field.name);
    if (!visibleIn) {
      out.column(alias, field.column);
      return;
    }
    // A hidden value never leaves the store, so no later step can show or expand it.
    writeGuard(out.add('CASE WHEN '), visibleIn, selection.table, alias);
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

function writeRest(out: SqlWriter, filter: Filter, alias: string): void {
  if (filter.kind === 'always') return;
  out.add(' AND ');
  writeFilter(out, filter, alias);
}

/**
 * Writes the terms of ORDER BY: absent values first ascending and last descending; without keys, creation order. Reference: queries.md#order.
 * @param filter the query's, which holds the `$text` that a score refers to
 * @param unindexed whether rows shall not be read in the order of an index
 */
export function writeOrder(out: SqlWriter, order: readonly OrderKey[], filter: Filter, alias: string, unindexed = false): void {
  const before = out.text.length;
  const scored = order.some((key) => key.kind === 'score') && findSearch(filter) !== undefined;
  for (const key of order) {
    if (key.kind === 'score' ? !scored : storageOf(key.ref.field) === 'relation') continue;
    if (out.text.length > before) out.add(', ');
    writeKey(unindexed && key.kind === 'field' ? out.add(out.dialect.unindexed) : out, key, filter, alias);
  }
  if (out.text.length === before) out.column(alias, '_seq');
}

function writeKey(out: SqlWriter, key: OrderKey, filter: Filter, alias: string): void {
  if (key.kind === 'score') {
    // `order=$score` means most relevant first, as in Parse.
    writeScore(out, filter, alias);
    out.add(key.descending ? '' : ' DESC').add(out.dialect.nulls(!key.descending));
    return;
  }
  const isPointed = key.kind === 'pointed';
  if (isPointed) writePointed(out, key.steps, key.ref, alias);
  else writeSorted(out, key.ref, alias);
  out.add(key.descending ? ' DESC' : '');
  // Databases use an index for an order only if the terms match it exactly, so columns that are never absent get no NULLS clause.
  if (isPointed || !isRequired(key.ref.field)) out.add(out.dialect.nulls(key.descending));
}

function writeSorted(out: SqlWriter, ref: FieldRef, alias: string): void {
  if (storageOf(ref.field) === 'json') out.dialect.jsonOrder(out, alias, ref);
  else out.column(alias, ref.field.column);
}

/** Writes the value of a field behind Pointers, as the caller sees that record: a look-up by id at each of them. */
function writePointed(out: SqlWriter, [step, ...others]: readonly PointerStep[], ref: FieldRef, alias: string): void {
  if (!step) {
    writeSorted(out, ref, alias);
    return;
  }
  const { pointer, table, filter } = step;
  const inner = out.newAlias();
  writePointed(out.add('(SELECT '), others, ref, inner);
  writeSource(out.add(' FROM '), table, filter, inner);
  out.add(' WHERE ').column(inner, 'objectId').add(' = ').column(alias, pointer.column);
  out.joining(true, () => writeRest(out, filter, inner));
  out.add(')');
}

/**
 * Writes the relevance of a record to the query's `$text`, higher for better; NULL without `$text`. For a caller that may see only some records it
 * depends on the record alone: how rare a word is among all records would reveal hidden ones.
 */
export function writeScore(out: SqlWriter, filter: Filter, alias: string): void {
  const found = findSearch(filter);
  if (found) out.dialect.score(out, alias, found.table, found.search, isGuarded(filter));
  else out.add('NULL');
}
