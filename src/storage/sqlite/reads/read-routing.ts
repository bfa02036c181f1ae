import type { Masks, RowGuard } from '../../../access/index.ts';
import type { Filter } from '../../../query/model/filter.ts';
import type { Query } from '../../../query/model/selection.ts';
import { storageOf } from '../../../values/index.ts';
import { compileCountUpTo, compileList } from '../../sql/select.ts';
import type { Statement } from '../../sql/writer.ts';
import type { Connection } from '../connection/connection.ts';
import { maxRowCount } from '../connection/statements.ts';
import { sqliteDialect } from '../sql/dialect.ts';

/** Tables of at most so many records are scanned on the event loop: faster than a hop to a thread. */
const MAX_SCANNED_ROWS = 1_000;
/** What a scan may cost there, in comparisons of a plain column with a value: some milliseconds. */
const MAX_SHORT_WORK = 40_000;
/** Bytes that all comparisons of a scan may go through. */
const MAX_SCANNED_BYTES = 128 * 1024 * 1024;
/** Records that the event loop reads and writes out for one answer. */
const MAX_SHORT_ROWS = 200;
/** Values of these, and their bytes. */
const MAX_SHORT_VALUES = 16_000;
const MAX_SHORT_BYTES = 16 * 1024 * 1024;
/** Comparisons that an index answers. */
const MAX_SHORT_CONSTRAINTS = 50;

/** Records that the event loop counts in an index for one answer. */
const MAX_SHORT_COUNT = 4_000;

/** Bytes of a value that the event loop reads. */
export const MAX_SHORT_VALUE_BYTES = 256 * 1024;

/** A list that the event loop may run as far as it meets no longer value. */
export interface ShortList {
  readonly statement: Statement;
  /** Bytes that a value may have so that the list is short for certain, whatever the data. */
  readonly maxValueBytes: number;
}

/**
 * A list that is short for certain, compiled; `null` for all other lists, which go to a reader thread, where a time limit ends them. Nothing
 * is compiled for those that are not short whatever the statement.
 */
export function shortList(connection: Connection, query: Query): ShortList | null {
  const rows = query.skip + query.limit;
  if (rows > MAX_SHORT_ROWS || query.stride !== undefined) return null;
  const values = rows * query.fields.length;
  if (values > MAX_SHORT_VALUES) return null;
  // Objects of which only some places are asked for are parsed.
  const bytes = query.paths ? MAX_SHORT_BYTES / 8 : MAX_SHORT_BYTES;
  const ofAnswer = Math.min(MAX_SHORT_VALUE_BYTES, Math.floor(bytes / values));
  const compiled = () => compileList(query, sqliteDialect, false);
  const statement = mayBeBounded(query) ? compiled() : null;
  if (statement && isBounded(connection, query, statement)) return { statement, maxValueBytes: ofAnswer };
  const ofScan = shortScan(connection, query);
  return ofScan === null ? null : { statement: statement ?? compiled(), maxValueBytes: Math.min(ofAnswer, ofScan) };
}

/** The number of records of a query where it takes little time to tell: few records, or few in an index. `null` else. @throws NotShort */
export function shortCount(connection: Connection, query: Query): number | null {
  const count = compileCountUpTo(query, MAX_SHORT_COUNT, sqliteDialect);
  const longest = isBounded(connection, query, count) ? MAX_SHORT_VALUE_BYTES : shortScan(connection, query);
  if (longest === null) return null;
  const [found] = connection.shorterThan(longest).first(count) as [number];
  return found > MAX_SHORT_COUNT ? null : found;
}

/** How long a value may be where the table is small and the query's conditions are few and plain; `null` where not. */
function shortScan(connection: Connection, query: Query): number | null {
  const work = scanCostOf(query);
  if (!work || work.once > MAX_SHORT_WORK) return null;
  const records = maxRowCount(connection, query.table);
  const comparisons = records * work.perRecord;
  if (records > MAX_SCANNED_ROWS || comparisons + work.once > MAX_SHORT_WORK) return null;
  return Math.min(MAX_SHORT_VALUE_BYTES, Math.floor(MAX_SCANNED_BYTES / Math.max(1, comparisons)));
}

/**
 * SQLite's own plan says whether an index takes every constraint and the order: then a page costs its own rows only.
 * Plans are remembered by statement text; they change with statistics, never with values.
 */
function isBounded(connection: Connection, query: Query, list: Statement): boolean {
  return mayBeBounded(query) && constraintsOf(query.filter) === connection.constraintsTaken(list.text);
}

/** Whether its conditions are such that an index may take them all. */
function mayBeBounded({ filter }: Query): boolean {
  const constraints = constraintsOf(filter);
  return constraints !== null && constraints <= MAX_SHORT_CONSTRAINTS;
}

/** How many plain comparisons a filter is the conjunction of; `null` where it is anything more. */
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

/** What a scan costs, in comparisons of a plain column with a value. */
export interface ScanCost {
  /** For each record that is looked at. */
  perRecord: number;
  /** Once: to compile the conditions, to read lists of values. */
  once: number;
}

const COMPILED = 20;
/** Going through the JSON text of an ACL, or of an Array field, beside what its length costs. */
const ACL = 8;
const ARRAY = 16;
/** Looking another record up by its id and holding it against its own guard; and compiling what does so, for each table (docs/adr/0016). */
const LOOK_UP = 200;
const LOOK_UP_COMPILED = 300;

/**
 * What it takes to go through the records of a query; `null` where that cannot be told from the query: patterns, full text, sub-queries and what
 * stands inside Arrays and Objects cost what the data say.
 */
export function scanCostOf({ filter, fields, shownIn, order }: Query): ScanCost | null {
  const work: ScanCost = { perRecord: 1 + fields.length / 16, once: 0 };
  for (const key of order) {
    if (key.kind === 'score' || key.ref.path.length > 0 || storageOf(key.ref.field) === 'json') return null;
    work.perRecord += 2;
  }
  for (const guard of shownIn?.values() ?? []) if (!addGuard(work, guard)) return null;
  return addCondition(work, filter) ? work : null;
}

/** Whether it can be told. */
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

/** Whether it can be told. */
function addGuard(work: ScanCost, guard: RowGuard): boolean {
  switch (guard.kind) {
    case 'acl':
      add(work, ACL + guard.identities.length);
      return true;
    case 'record':
      add(work, 1);
      return true;
    case 'oneOf':
      add(work, guard.values.length);
      return true;
    case 'subject':
      add(work, LOOK_UP);
      work.once += LOOK_UP_COMPILED * guard.of.tables.size;
      return true;
    case 'sources':
      // As many look-ups as the row has sources.
      return false;
    case 'all':
    case 'any':
      return guard.guards.every((part) => addGuard(work, part));
    case 'not':
      return addGuard(work, guard.guard);
    case 'userFields':
      add(work, ARRAY * guard.fields.length);
      return true;
  }
}

/** What stands in place of values that are hidden; JSON is read for that. */
function addMasks(work: ScanCost, masks: Masks | undefined): boolean {
  return !masks || masks.values().every((mask) => mask.kind === 'shownIn' && addGuard(work, mask.rows));
}

function add(work: ScanCost, cost: number): void {
  work.perRecord += cost;
  work.once += COMPILED;
}
