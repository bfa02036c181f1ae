import type { JsonValue } from '../../../kernel/json.ts';
import { names, objectId, table } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { getRow } from '../../kit/reading/records.ts';
import { tableNamed } from '../../kit/reading/tables.ts';
import { withoutUnasked } from '../../kit/reading/without-unasked.ts';
import { namedPointer } from '../../kit/values/titles.ts';

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
