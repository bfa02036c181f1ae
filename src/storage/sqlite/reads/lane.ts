import { hasPattern, someCondition } from '../../../query/conditions.ts';
import type { Filter } from '../../../query/filter.ts';
import type { Query } from '../../../query/selection.ts';
import { compileCountUpTo } from '../../sql/select.ts';
import type { Statement } from '../../sql/writer.ts';
import type { Connection } from '../connection.ts';
import { sqliteDialect } from '../sql/dialect.ts';
import { mostRecords } from '../table-size.ts';

/** Tables of at most so many records are scanned on the event loop: faster than a hop to a thread. */
const SMALL_TABLE = 1_000;
/** Records that the event loop reads and writes out for one answer. */
const SHORT_ANSWER = 200;

/** Records that the event loop counts in an index for one answer. */
const SHORT_COUNT = 4_000;

/**
 * Whether a list is short for certain, so that the event loop may run it: it reads few rows, whatever the data. All else goes to a
 * reader thread, where a time limit ends it.
 */
export function isShortList(connection: Connection, query: Query, list: Statement): boolean {
  if (query.skip + query.limit > SHORT_ANSWER) return false;
  return isBounded(connection, query, list) || isSmall(connection, query);
}

/** The number of records of a query where it takes little time to tell: few records, or few in an index. `null` else. */
export function shortCount(connection: Connection, query: Query): number | null {
  const count = compileCountUpTo(query, SHORT_COUNT, sqliteDialect);
  if (!isBounded(connection, query, count) && !isSmall(connection, query)) return null;
  const [found] = connection.first(count) as [number];
  return found > SHORT_COUNT ? null : found;
}

/** Whether the table is small and nothing in the filter costs more than its rows. */
function isSmall(connection: Connection, query: Query): boolean {
  return !someCondition(query.filter, isCostly) && mostRecords(connection, query.table) <= SMALL_TABLE;
}

const costly: ReadonlySet<Filter['kind']> = new Set(['text', 'inQuery', 'select', 'relatedTo']);

/** Patterns, full text and sub-queries cost what they cost, even on small tables. */
function isCostly(condition: Filter): boolean {
  return costly.has(condition.kind) || hasPattern(condition);
}

/**
 * SQLite's own plan says whether an index takes every constraint and the order: then a page costs its own rows only.
 * Plans are remembered by statement text; they change with statistics, never with values.
 */
function isBounded(connection: Connection, query: Query, list: Statement): boolean {
  const constraints = constraintsOf(query.filter);
  if (constraints === null) return false;
  return constraints === connection.constraintsTaken(list.text);
}

/** How many plain comparisons a filter is the conjunction of; `null` where it is anything more. */
function constraintsOf(filter: Filter): number | null {
  switch (filter.kind) {
    case 'always':
      return 0;
    case 'compare':
      return 1;
    case 'and': {
      let sum = 0;
      for (const item of filter.items) {
        const part = constraintsOf(item);
        if (part === null) return null;
        sum += part;
      }
      return sum;
    }
    default:
      return null;
  }
}
