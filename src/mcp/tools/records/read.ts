import { countRows, getRow, tableNamed } from '../../../crm/queries/records.ts';
import { namedPointer } from '../../../crm/wire/titles.ts';
import type { JsonValue } from '../../../kernel/json.ts';
import { limit, names, object, objectId, recordId, skip, table, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { withTableHints } from '../../results/hints.ts';
import { answerOf, findPage, omitUnrequested } from '../../results/page.ts';

/** Reference: tools.md#get-data. */
export const getData = defineTool({
  name: 'Get-Data',
  group: 'records',
  description: 'Read records of one table with filter, projection, order and paging.',
  input: {
    table: table(),
    keys: names().optional(),
    limit: limit(5),
    order: text().optional(),
    skip: skip(),
    where: object().optional(),
    objectId: recordId().optional(),
  },
  needs: ['mcp:view'],
  effect: 'read',
  async run(call, { table: className, objectId, where, limit: maxRows, skip: from, ...ask }) {
    const filter = objectId === undefined ? where : { ...(where && { $and: [where] }), objectId };
    const page = await findPage(call, className, { ...ask, where: filter, skip: from, limit: maxRows });
    return answerOf(page, withTableHints(call, className, { where, ...ask }, page.end));
  },
});

/** Counts the matching records that the caller may find. Reference: tools.md#count-data. */
export const countData = defineTool({
  name: 'Count-Data',
  group: 'records',
  description: 'Number of records that match, without reading them.',
  input: { table: table(), where: object().optional() },
  needs: ['mcp:view'],
  effect: 'read',
  async run(call, { table: className, where }) {
    const count = await countRows(call, className, where);
    return withTableHints(call, className, { where }, { count });
  },
});

/** Without `include`, each linked record is a Pointer with its name; with it, the named ones are expanded. Reference: tools.md#get-record. */
export const getRecord = defineTool({
  name: 'Get-Record',
  group: 'records',
  description: 'One record by id; linked records come with their names, those of include expanded.',
  input: { table: table(), objectId: objectId(), keys: names().optional(), include: names(100).optional() },
  needs: ['mcp:view'],
  effect: 'read',
  async run(call, { table: className, objectId: id, keys, include }) {
    tableNamed(call, className);
    const row = await getRow(call, className, id, { keys, include: include ?? ['*'] });
    const [shown = row] = omitUnrequested([row], keys);
    if (include) return shown;
    return Object.fromEntries(Object.entries(shown).map(([name, value]): [string, JsonValue] => [name, namedPointer(value)]));
  },
});
