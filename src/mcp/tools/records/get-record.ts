import type { JsonValue } from '../../../kernel/json.ts';
import { getRow, type Row, tableNamed } from '../../kit/records.ts';
import { namedPointer } from '../../kit/titles.ts';
import { names, objectId, table } from '../parameters.ts';
import { defineTool } from '../tool.ts';

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
    if (include) return getRow(call, className, id, { keys, include });
    const row = await getRow(call, className, id, { keys, include: ['*'] });
    return Object.fromEntries(
      Object.entries(row).map(([name, value]): [string, JsonValue] => [name, namedPointer(value)]),
    ) as Row;
  },
});
