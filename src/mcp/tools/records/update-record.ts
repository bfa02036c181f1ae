import type { OnlyIf } from '../../../records/index.ts';
import { fieldOf } from '../../../schema/model.ts';
import { parseIsoDate } from '../../../values/index.ts';
import { flag, instant, object, objectId, table } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { withAdded } from '../../kit/writing/added.ts';
import { changeAnswer } from '../../kit/writing/made.ts';
import { ignoredFlags, updateRow } from '../../kit/writing/records.ts';

/** SPEC "Records: Update", "Field operators on update"; `ifUpdatedAt`: only as long as nobody has written since. */
export const updateRecord = defineTool({
  name: 'Update-Record',
  group: 'records',
  description: 'Change fields of one record; accepts Increment, AddUnique, Remove and Delete operators.',
  input: {
    table: table(),
    objectId: objectId(),
    data: object(),
    ifUpdatedAt: instant().optional(),
    skipTriggers: flag().optional(),
    skipTimeline: flag().optional(),
  },
  needs: ['mcp:update'],
  effect: 'change',
  run: (call, { table: className, objectId: id, data, ifUpdatedAt, ...silence }) => {
    const ignored = ignoredFlags(call, silence);
    const onlyIf = ifUpdatedAt === undefined ? undefined : unchangedSince(parseIsoDate(ifUpdatedAt));
    return withAdded(call, className, async () => ({
      ...changeAnswer(await updateRow(call, className, id, data, { ...silence, onlyIf })),
      ...ignored,
    }));
  },
});

const unchangedSince =
  (value: number | null): OnlyIf =>
  (table) => ({ kind: 'compare', field: fieldOf(table, 'updatedAt'), op: 'eq', value });
