import type { Masks, RowGuard } from '../../../access/index.ts';
import type { Filter } from '../../../query/model/filter.ts';
import type { Query } from '../../../query/model/selection.ts';
import { storageOf } from '../../../values/index.ts';
import { compileCountUpTo, compileList } from '../../sql/select.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import { maxRowCount, type PlannedRows } from '../connection/statements.ts';
import { sqliteDialect } from '../sql/dialect.ts';

/** Tables with at most this many records are scanned on the event loop, which is faster than a message to a thread. */
const MAX_SCANNED_ROWS = 1_000;
/** Maximum cost of such a scan, in comparisons of a plain column with a value: a few milliseconds. */
const MAX_SHORT_WORK = 40_000;
/** Maximum bytes that all comparisons of a scan may read. */
const MAX_SCANNED_BYTES = 128 * 1024 * 1024;
/** Maximum records that the event loop reads and writes for one answer. */
const MAX_SHORT_ROWS = 200;
/** Maximum values of these records, and bytes of the values. */
const MAX_SHORT_VALUES = 16_000;
const MAX_SHORT_BYTES = 16 * 1024 * 1024;
/** Maximum comparisons that an index answers. */
const MAX_SHORT_CONSTRAINTS = 50;

/** Maximum records that the event loop counts in an index: half a millisecond, like a list. A message to a thread and back costs a third of it. */
const MAX_SHORT_COUNT = 20_000;

/** Maximum bytes of a value that the event loop reads. */
export const MAX_SHORT_VALUE_BYTES = 256 * 1024;

/** A list that the event loop may execute as long as no value is longer. */
export interface ShortList {
  readonly statement: Statement;
  /** Maximum bytes of a value for which the list is certainly short, regardless of the data. */
  readonly maxValueBytes: number;
}

/**
 * Compiles a list that is certainly short; returns `null` for all others, which go to a reader thread, where the time limit ends them. Lists that no
 * statement could make short are not compiled.
 */
export function shortList(connection: PlannedRows, query: Query): ShortList | null {
  if (query.stride !== undefined) return null;
  const rows = rowsRead(connection, query);
  if (rows > MAX_SHORT_ROWS) return null;
  const values = rows * query.fields.length;
  if (values > MAX_SHORT_VALUES) return null;
  // Objects of which only some paths are requested must be parsed.
  const bytes = query.paths ? MAX_SHORT_BYTES / 8 : MAX_SHORT_BYTES;
  const maxAnswerValueBytes = Math.min(MAX_SHORT_VALUE_BYTES, Math.floor(bytes / values));
  const compiled = () => compileList(query, sqliteDialect, false);
  const statement = mayBeBounded(query) ? compiled() : null;
  if (statement && isBounded(connection, query, statement)) return { statement, maxValueBytes: maxAnswerValueBytes };
  const maxScanValueBytes = shortScan(connection, query);
  return maxScanValueBytes === null
    ? null
    : { statement: statement ?? compiled(), maxValueBytes: Math.min(maxAnswerValueBytes, maxScanValueBytes) };
}

/** Returns the number of records that a list reads at most: all of a small table, if it wants more. */
function rowsRead(connection: PlannedRows, { table, skip, limit }: Query): number {
  const wanted = skip + limit;
  return wanted > MAX_SHORT_ROWS ? Math.min(wanted, maxRowCount(connection, table)) : wanted;
}

/** Returns the number of records of a query if counting is quick: few records, or few in an index; `null` otherwise. @throws TooLong */
export function shortCount(connection: PlannedRows, query: Query): number | null {
  const count = compileCountUpTo(query, MAX_SHORT_COUNT, sqliteDialect);
  const maxValueBytes = isBounded(connection, query, count) ? MAX_SHORT_VALUE_BYTES : shortScan(connection, query);
  if (maxValueBytes === null) return null;
  const [found] = connection.shorterThan(maxValueBytes).first(count) as [number];
  return found > MAX_SHORT_COUNT ? null : found;
}

/** Returns how long a value may be in a scan, if the table is small and the conditions are few and plain; `null` if not. */
function shortScan(connection: PlannedRows, query: Query): number | null {
  const work = scanCostOf(query);
  if (!work || work.once > MAX_SHORT_WORK) return null;
  const records = maxRowCount(connection.shorterThan(MAX_SHORT_VALUE_BYTES), query.table);
  const comparisons = records * work.perRecord;
  if (records > MAX_SCANNED_ROWS || comparisons + work.once > MAX_SHORT_WORK) return null;
  return Math.min(MAX_SHORT_VALUE_BYTES, Math.floor(MAX_SCANNED_BYTES / Math.max(1, comparisons)));
}

/**
 * Returns whether SQLite's plan uses an index for every constraint and the order: then a page costs only its own rows. Plans are cached by statement
 * text; they depend on statistics, never on values.
 */
function isBounded(connection: PlannedRows, query: Query, list: Statement): boolean {
  return mayBeBounded(query) && constraintsOf(query.filter) === connection.constraintsTaken(list.text);
}

/** Returns whether an index could answer all conditions. */
function mayBeBounded({ filter }: Query): boolean {
  const constraints = constraintsOf(filter);
  return constraints !== null && constraints <= MAX_SHORT_CONSTRAINTS;
}

/** Returns the number of plain comparisons if the filter is a conjunction of only these; `null` otherwise. */
function constraintsOf(filter: Filter): number | null {
  switch (filter.kind) {
    case 'always':
      return 0;
    case 'compare':
      return 1;
    case 'places':
      return 2;
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

/** The cost of a scan, in comparisons of a plain column with a value. */
export interface ScanCost {
  /** Per record. */
  perRecord: number;
  /** Once: compiling the conditions, reading lists of values. */
  once: number;
}

const COMPILE_COST = 20;
/** Cost of parsing the JSON text of an ACL, or of an Array field, besides its length. */
const ACL_COST = 8;
const ARRAY_COST = 16;
/** Cost of looking up another record by its id and checking its guard; and of compiling that, per table (docs/adr/0016). */
const LOOKUP_COST = 200;
const LOOKUP_COMPILE_COST = 300;

/**
 * Estimates the cost of scanning the records of a query; `null` if it cannot be estimated from the query: the cost of patterns, full text,
 * sub-queries and values inside Arrays and Objects depends on the data.
 */
export function scanCostOf({ filter, fields, visibleIn, order }: Query): ScanCost | null {
  const work: ScanCost = { perRecord: 1 + fields.length / 16, once: 0 };
  for (const key of order) {
    if (key.kind !== 'field' || key.ref.path.length > 0 || storageOf(key.ref.field) === 'json') return null;
    work.perRecord += 2;
  }
  for (const guard of visibleIn?.values() ?? []) if (!addGuard(work, guard)) return null;
  return addCondition(work, filter) ? work : null;
}

/** Returns whether the cost can be estimated. */
function addCondition(work: ScanCost, filter: Filter): boolean {
  switch (filter.kind) {
    case 'always':
    case 'never':
      return true;
    case 'and':
    case 'or':
      return filter.items.every((item) => addCondition(work, item));
    case 'not':
      return addCondition(work, filter.item);
    case 'guard':
      return addMasks(work, filter.masks) && addGuard(work, filter.guard);
    case 'compare':
      add(work, 1);
      return true;
    case 'in':
      add(work, 2);
      work.once += filter.values.length;
      return true;
    case 'exists':
      add(work, 1);
      return filter.ref.path.length === 0;
    default:
      return false;
  }
}

/** Returns whether the cost can be estimated. */
function addGuard(work: ScanCost, guard: RowGuard): boolean {
  switch (guard.kind) {
    case 'acl':
      add(work, ACL_COST + guard.identities.length);
      return true;
    case 'record':
      add(work, 1);
      return true;
    case 'oneOf':
      add(work, guard.values.length);
      return true;
    case 'subject':
      add(work, LOOKUP_COST);
      work.once += LOOKUP_COMPILE_COST * guard.of.tables.size;
      return true;
    case 'sources':
      // The number of look-ups depends on the row's sources.
      return false;
    case 'all':
    case 'any':
      return guard.guards.every((part) => addGuard(work, part));
    case 'not':
      return addGuard(work, guard.guard);
    case 'userFields':
      add(work, ARRAY_COST * guard.fields.length);
      return true;
  }
}

/** Masks that replace parts of JSON have to parse it, so their cost cannot be estimated. */
function addMasks(work: ScanCost, masks: Masks | undefined): boolean {
  return !masks || masks.values().every((mask) => mask.kind === 'visibleIn' && addGuard(work, mask.rows));
}

function add(work: ScanCost, cost: number): void {
  work.perRecord += cost;
  work.once += COMPILE_COST;
}
