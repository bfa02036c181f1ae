import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import type { CrmContext } from '../context.ts';
import { findRows, getRow, type Row, tableNamed, unknownFields } from '../queries/records.ts';
import { badArguments } from '../refusals.ts';

/** The table of saved reports (system-tables.md#_dynamicqueries). */
export const REPORTS = '_DynamicQueries';

/** The definition of a saved report. */
export interface Report {
  readonly table: string;
  readonly keys: readonly string[];
  readonly where: JsonObject | undefined;
  readonly order: string | undefined;
  readonly groupBy: readonly string[];
}

/** Returns a saved report that the caller may read. @throws objectNotFound (101); invalidArguments (107) for a row that is not a valid definition */
export async function readReport(context: CrmContext, reportId: string): Promise<Report & { readonly row: Row }> {
  const row = await getRow(context, REPORTS, reportId);
  const part = (name: string): JsonValue => own(row, name) ?? null;
  const [table, order, where] = [part('table'), part('order'), part('where')];
  if (typeof table !== 'string' || table === '') return stale('it names no table');
  return {
    row,
    table,
    keys: namesAt(part('keys'), 'keys'),
    where: where === null ? undefined : isJsonObject(where) ? where : stale('its where is no object'),
    order: order === null || order === '' ? undefined : typeof order === 'string' ? order : stale('its order is no text'),
    groupBy: namesAt(part('groupBy'), 'groupBy'),
  };
}

function namesAt(value: JsonValue, part: string): string[] {
  if (value === null) return [];
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return value as string[];
  return stale(`its ${part} are no list of names`);
}

const stale = (why: string): never => badArguments(`the report cannot be run: ${why}`, { next: 'Save-Report' });

/** Groups can be ordered by this, besides their names and sums. */
export const COUNT = 'count';

/**
 * Checks that the table and fields of a report exist and that the caller may read them.
 * @throws classMissing (103), permissionDenied, fieldDenied (119); errors of `where` and `order`; invalidArguments (107) for unknown fields
 */
export async function checkReport(context: CrmContext, { table, keys, where, order, groupBy }: Report): Promise<void> {
  tableNamed(context, table);
  const ordered = namesInOrder(order ?? '').filter((name) => groupBy.length === 0 || name !== COUNT);
  await findRows(context, table, { where, ...(groupBy.length === 0 && { order }), limit: 0 });
  const unknown = unknownFields(context, table, [...keys, ...groupBy, ...ordered, ...namesIn(where ?? {})]);
  if (unknown.length === 0) return;
  badArguments(`${table} has no field ${unknown.map((name) => name.slice(0, 100)).join(', ')}`, {
    expected: 'keys, where, order and groupBy name fields of the table; a saved report that does not is to be saved anew',
    next: 'Get-Schema',
  });
}

/** Returns the names of fields in a `where`, without those of sub-queries. */
export function namesIn(where: JsonObject): string[] {
  return Object.entries(where).flatMap(([name, value]) => {
    if (!name.startsWith('$')) return [name];
    return Array.isArray(value) ? value.filter(isJsonObject).flatMap(namesIn) : [];
  });
}

/** Returns the names in a comma-separated `order`. */
export const namesInOrder = (order: string): string[] =>
  order
    .split(',')
    .map((name) => name.trim().replace(/^-/, ''))
    .filter((name) => name !== '');
