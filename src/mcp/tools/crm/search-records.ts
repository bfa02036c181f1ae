import pLimit from 'p-limit';
import { fail } from '../../../errors/fail.ts';
import { fit, RESULT_BYTES } from '../../kit/page.ts';
import { badArguments, tableNamed, unless, unseen } from '../../kit/records.ts';
import { byRank, type Found, searchTable } from '../../kit/search.ts';
import { limit, names, text } from '../parameters.ts';
import { defineTool } from '../tool.ts';

/** Where people look for something, in the order in which they are shown. */
const usual = [
  'Accounts',
  'Contacts',
  'Sales',
  'Cases',
  'Tasks',
  'Products',
  'PriceQuotes',
  'Activities',
  'Projects',
  'Suppliers',
];
const MOST_TABLES = 20;
/** Tables that are searched at once: none has an index for it. */
const AT_ONCE = 3;
const FRAME_BYTES = 2_000;

/** One query a table, by the fields that the caller may ask about. */
export const searchRecords = defineTool({
  name: 'Search-Records',
  group: 'crm',
  description: 'Find records by name, phone, e-mail or number across tables; matches phones in all local and 972 forms.',
  input: { query: text(200), tables: names(MOST_TABLES).optional(), limit: limit(20, 200) },
  needs: ['mcp:view'],
  effect: 'read',
  about: 'Accounts',
  async run(call, { query, tables, limit: most }) {
    if (query.trim() === '') badArguments('query must not be empty');
    const schema = call.context.store.schema();
    const named = tables && tables.length > 0 ? [...new Set(tables)] : usual.filter((name) => schema.tables.has(name));
    const turn = pLimit(AT_ONCE);
    const searches = named
      .map((name) => tableNamed(call, name))
      .map((table) => turn(() => unless(unseen, null, () => searchTable(call, table, query, most + 1))));
    const found: Found[] = [];
    const hidden: string[] = [];
    for (const [at, rows] of (await Promise.all(searches)).entries())
      if (rows) found.push(...rows);
      else hidden.push(named[at] ?? '');
    if (hidden.length > 0 && hidden.length === named.length) fail('permissionDenied', 'find', hidden[0] ?? '');
    const within = found.sort(byRank).slice(0, most);
    const shown = within.map(({ shown }) => shown);
    const results = shown.slice(0, fit(shown, RESULT_BYTES - FRAME_BYTES));
    const isCut = results.length < found.length;
    return {
      results,
      ...(isCut && { truncated: true, hint: 'There are more: name the tables, or more of the text.' }),
      ...(hidden.length > 0 && { hidden }),
    };
  },
});
