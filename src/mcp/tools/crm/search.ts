import pLimit from 'p-limit';
import { oneMore, tableNamed } from '../../../crm/queries/records.ts';
import { accessErrors, badArguments, unless } from '../../../crm/refusals.ts';
import { duplicatesOf } from '../../../crm/search/duplicates.ts';
import { byRank, type Found, searchTable } from '../../../crm/search/search.ts';
import { fail } from '../../../errors/fail.ts';
import { limit, names, table, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { headOf } from '../../results/page.ts';

/** Tables searched by default, in order of rank. */
const defaultTables = [
  'Accounts',
  'Contacts',
  'Sales',
  'Cases',
  'Tasks',
  'Products',
  'PriceQuotes',
  'AccountingHeaders',
  'Activities',
  'Projects',
  'Suppliers',
];
const MAX_TABLES = 20;
/** Number of tables searched concurrently: each takes some 30 ms of a thread. */
const CONCURRENCY = 3;

/** One query per table, on the fields that the caller may query. Reference: tools.md#search-records. */
export const searchRecords = defineTool({
  name: 'Search-Records',
  group: 'crm',
  description: 'Find records by name, phone, e-mail or number across tables; matches phones in all local and 972 forms.',
  input: { query: text(200), tables: names(MAX_TABLES).optional(), limit: limit(20, 200) },
  needs: ['mcp:view'],
  effect: 'read',
  about: 'Accounts',
  async run(call, { query, tables, limit: maxRows }) {
    if (query.trim() === '') badArguments('query must not be empty');
    const schema = call.store.schema();
    const named = tables && tables.length > 0 ? [...new Set(tables)] : defaultTables.filter((name) => schema.tables.has(name));
    const turn = pLimit(CONCURRENCY);
    const searches = named
      .map((name) => tableNamed(call, name))
      .map((table) => turn(() => unless(accessErrors, null, () => searchTable(call, table, query, maxRows + 1))));
    const found: Found[] = [];
    const hidden: string[] = [];
    for (const [at, rows] of (await Promise.all(searches)).entries())
      if (rows) found.push(...rows);
      else hidden.push(named[at] ?? '');
    if (hidden.length > 0 && hidden.length === named.length) fail('permissionDenied', 'find', hidden[0] ?? '');
    const best = found.sort(byRank).map(({ shown }) => shown);
    const page = headOf(best, maxRows, 'There are more: name the tables, or more of the text.');
    return { ...page, ...(hidden.length > 0 && { hidden }) };
  },
});

/** Needed because the service does not enforce unique phones and e-mail addresses. Reference: tools.md#find-duplicates. */
export const findDuplicates = defineTool({
  name: 'Find-Duplicates',
  group: 'crm',
  description:
    'Accounts or contacts that match a phone, e-mail, name or company id; call before creating: nothing enforces uniqueness.',
  input: {
    table: table().optional(),
    phone: text(100).optional(),
    email: text(1_000).optional(),
    name: text(1_000).optional(),
    companyId: text(100).optional(),
    limit: limit(20, 200),
  },
  needs: ['mcp:view'],
  effect: 'read',
  about: 'Accounts',
  async run(call, { table: className = 'Accounts', limit: maxRows, ...criteria }) {
    const found = await duplicatesOf(call, tableNamed(call, className), criteria, oneMore(maxRows));
    return headOf(found, maxRows, 'There are more: send more of what you know.');
  },
});
