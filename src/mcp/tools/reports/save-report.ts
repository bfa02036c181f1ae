import { callerId, userPointer } from '../../kit/people.ts';
import { createRow, updateRow } from '../../kit/records.ts';
import { hasField } from '../../kit/table-fields.ts';
import { names, object, recordId, table as tableName, text } from '../parameters.ts';
import { defineTool } from '../tool.ts';
import { checkReport, REPORTS } from './report.ts';

/** SPEC "Other system tables": `_DynamicQueries`. */
export const saveReport = defineTool({
  name: 'Save-Report',
  group: 'reports',
  description: 'Create a saved report, or replace one when reportId is sent (parts not sent are emptied).',
  input: {
    reportId: recordId().optional(),
    name: text(1_000),
    table: tableName(),
    keys: names(200).optional(),
    where: object().optional(),
    order: text(1_000).optional(),
    groupBy: names(10).optional(),
  },
  needs: ['mcp:create', 'mcp:update'],
  effect: 'change',
  about: REPORTS,
  async run(call, { reportId, name, table, keys = [], where, order, groupBy = [] }) {
    await checkReport(call, { table, keys, where, order, groupBy });
    const data = { Name: name, table, keys, where: where ?? null, order: order ?? null, groupBy };
    if (reportId !== undefined) {
      await updateRow(call, REPORTS, reportId, data);
      return { reportId, replaced: true };
    }
    const userId = callerId(call);
    const owner = userId !== undefined && hasField(call, REPORTS, 'OwnerId', 'Pointer') ? { OwnerId: userPointer(userId) } : {};
    const { objectId } = await createRow(call, REPORTS, { ...data, ...owner });
    return { reportId: objectId, created: true };
  },
});
