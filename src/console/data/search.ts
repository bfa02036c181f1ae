import pLimit from 'p-limit';
import type { CrmContext } from '../../crm/context.ts';
import { queryableFields, visibleFields } from '../../crm/queries/field-visibility.ts';
import { listRows } from '../../crm/queries/long-rows.ts';
import { accessErrors, unless } from '../../crm/refusals.ts';
import { searchTable } from '../../crm/search/search.ts';
import { literal } from '../../crm/search/text-match.ts';
import { shortText } from '../../crm/wire/short-text.ts';
import { titleFieldsOf, titleOf } from '../../crm/wire/titles.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { splitNames } from '../../query/model/names.ts';
import type { TableSchema } from '../../schema/model.ts';
import { storageOf } from '../../values/index.ts';
import type { ApiEndpoint, ApiRequest } from '../protocol/api-endpoint.ts';
import type { SearchAnswer, SearchResult } from '../protocol/protocol.ts';
import { findable, isListed } from './model.ts';
import { numberOf, refuse, textOf } from './wire/parameters.ts';

export const MAX_QUERY_LENGTH = 200;
const MAX_TABLES_LENGTH = 10_000;
/** Maximum length of the returned matching text. */
const MAX_MATCHED_LENGTH = 200;
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
/** Number of tables searched concurrently. */
const CONCURRENCY = 3;
/** Time after which no further table is searched. */
const TIMEOUT_MS = 5 * SECOND_MS;

/** A result with its rank; lower is better. */
interface Ranked {
  readonly rank: number;
  readonly result: SearchResult;
}

/** Searches all tables that the caller may find in, or the named ones. Without a text, returns the first records by name, for choosing one. */
export const getSearch: ApiEndpoint = {
  method: 'GET',
  path: '/search',
  async run(context, request): Promise<SearchAnswer> {
    const text = (textOf(request, 'q', MAX_QUERY_LENGTH) ?? '').trim();
    const limit = numberOf(request, 'limit', DEFAULT_LIMIT, MAX_LIMIT);
    const { tables, isNamed } = tablesOf(context, request);
    if (text === '' && !isNamed) return { results: [], isPartial: false };
    const deadline = performance.now() + TIMEOUT_MS;
    const turn = pLimit(CONCURRENCY);
    let isPartial = false;
    const search = async (table: TableSchema): Promise<Ranked[]> => {
      const read = () => unless(accessErrors, [], () => resultsOf(context, table, { text, limit, isNamed }));
      const isLate = context.signal.aborted || performance.now() > deadline;
      const found = isLate ? null : await unless(['timeout', 'resultTooLarge'], null, read);
      if (!found) isPartial = true;
      return found ?? [];
    };
    const found = (await Promise.all(tables.map((table) => turn(() => search(table))))).flat();
    const results = found.sort((one, other) => one.rank - other.rank).slice(0, limit);
    return { results: results.map(({ result }) => result), isPartial };
  },
};

/** Returns the named tables, or those of the navigation. @throws invalidArguments (107) if none of the named ones may be searched */
function tablesOf(context: CrmContext, request: ApiRequest): { tables: readonly TableSchema[]; isNamed: boolean } {
  const named = new Set(splitNames('tables', textOf(request, 'tables', MAX_TABLES_LENGTH)));
  const known = findable(context);
  if (named.size === 0) return { tables: known.filter(isListed), isNamed: false };
  const tables = known.filter(({ className }) => named.has(className));
  return tables.length > 0 ? { tables, isNamed: true } : refuse('tables', 'names none that may be searched');
}

interface SearchOptions {
  readonly text: string;
  readonly limit: number;
  readonly isNamed: boolean;
}

async function resultsOf(context: CrmContext, table: TableSchema, { text, limit, isNamed }: SearchOptions): Promise<Ranked[]> {
  const first = isNamed ? await byTitle(context, table, text, limit) : [];
  const rest = text === '' || first.length >= limit ? [] : await searchTable(context, table, text, limit);
  const known = new Set(first.map(({ result }) => result.objectId));
  const others = rest.flatMap(({ rank, shown }): Ranked[] => {
    const { objectId, Name, matched } = shown as { objectId: string; Name?: string; matched: JsonObject };
    if (known.has(objectId)) return [];
    return [{ rank, result: { table: table.className, objectId, title: Name ?? '', matched } }];
  });
  return [...first, ...others];
}

/** Finds records whose title begins with the text, ordered by title: users who choose a record type its beginning. */
async function byTitle(context: CrmContext, table: TableSchema, text: string, limit: number): Promise<Ranked[]> {
  const { className } = table;
  const shown = visibleFields(context, table, titleFieldsOf(table));
  const [title] = queryableFields(context, table, titleFieldsOf(table));
  const field = title === undefined ? undefined : table.fields.get(title);
  if (field && text !== '' && storageOf(field) !== 'text') return [];
  const where =
    title === undefined ? {} : { [title]: text === '' ? { $exists: true } : { $regex: `^${literal(text)}`, $options: 'i' } };
  const order = title ?? '-createdAt';
  const { rows } = await listRows(context, className, { where, keys: ['objectId', ...shown], order, limit });
  return rows.map(({ objectId, ...row }) => {
    const name = titleOf(row) ?? '';
    const rank = text === '' || name.toLowerCase() === text.toLowerCase() ? 0 : 1;
    const matched: JsonObject =
      title !== undefined && text !== '' ? { [title]: shortText(String(row[title] ?? ''), MAX_MATCHED_LENGTH) } : {};
    return { rank, result: { table: className, objectId, title: name, matched } };
  });
}
