import { countRows, getRow, tableNamed } from '../../../crm/queries/records.ts';
import { namedPointer } from '../../../crm/wire/titles.ts';
import type { JsonValue } from '../../../kernel/json.ts';
import { limit, names, object, objectId, recordId, skip, table, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { withTableHints } from '../../results/hints.ts';
import { findPage, withoutUnasked } from '../../results/page.ts';

/** SPEC "Agent-tool layer (MCP)": Get-Data. */
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
  async run(call, { table: className, objectId, where, limit: most, skip: from, ...ask }) {
    const sought = objectId === undefined ? where : { ...(where && { $and: [where] }), objectId };
    const page = await findPage(call, className, { ...ask, where: sought, skip: from, limit: most });
    return withTableHints(call, className, { where, ...ask }, { ...page });
  },
});

/** Number of records that match, of those that the caller may find. */
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

/** Without `include` each linked record is a Pointer with its name; those of `include` are whole. */
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
    const [shown = row] = withoutUnasked([row], keys);
    if (include) return shown;
    return Object.fromEntries(Object.entries(shown).map(([name, value]): [string, JsonValue] => [name, namedPointer(value)]));
  },
});
