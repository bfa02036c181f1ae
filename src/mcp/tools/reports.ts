import { createRow, updateRow } from '../../crm/commands/records.ts';
import { visibleFields } from '../../crm/queries/field-visibility.ts';
import { callerId, userPointer } from '../../crm/queries/owners.ts';
import { findRows, hasField, oneMore, tableNamed } from '../../crm/queries/records.ts';
import { briefly, briefOf } from '../../crm/queries/summary.ts';
import { runGroups } from '../../crm/reports/grouped-report.ts';
import { checkReport, REPORTS, type Report, readReport } from '../../crm/reports/saved-report.ts';
import { contains } from '../../crm/search/text-match.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isDefaultField } from '../../schema/change.ts';
import { rootOf } from '../../schema/model.ts';
import { limit, names, object, recordId, skip, table as tableName, text } from '../definition/parameters.ts';
import { defineTool, type Tool, type ToolCall } from '../definition/tool.ts';
import { withHints } from '../results/hints.ts';
import { headOf, pageOf } from '../results/page.ts';

const shown = ['Name', 'Description', 'table', 'keys', 'where', 'order', 'groupBy', 'Shared', 'OwnerId'];

/** Reference: tools.md#get-reports, system-tables.md#_dynamicqueries. */
const getReports = defineTool({
  name: 'Get-Reports',
  group: 'reports',
  description: 'Saved reports: id, name, table, columns.',
  input: { search: text(200).optional(), table: tableName().optional(), limit: limit(50) },
  needs: ['mcp:view'],
  effect: 'read',
  about: REPORTS,
  async run(call, { search, table, limit: maxRows }) {
    const where = {
      ...(table !== undefined && { table }),
      ...(search !== undefined && { $or: [contains('Name', search), contains('Description', search)] }),
    };
    const rows = await findRows(call, REPORTS, {
      where,
      ...briefly(call, tableNamed(call, REPORTS), shown),
      order: 'Name',
      limit: oneMore(maxRows),
    });
    const reports = rows.map((row) => briefOf(row, shown));
    return headOf(reports, maxRows, 'There are more: use search, table or limit.');
  },
});

/** Uses the caller's rights on the report's table. */
const runReport = defineTool({
  name: 'Run-Report',
  group: 'reports',
  description: 'Run a saved report, with an optional extra filter.',
  input: { reportId: recordId(), where: object().optional(), limit: limit(50), skip: skip() },
  needs: ['mcp:view'],
  effect: 'read',
  about: REPORTS,
  listedBy: 'Get-Reports',
  async run(call, { reportId, where: extra, limit: maxRows, skip: from }) {
    const { row, ...saved } = await readReport(call, reportId);
    const wheres = [saved.where, extra].filter((where) => where !== undefined);
    const report: Report = { ...saved, where: wheres.length > 1 ? { $and: wheres } : wheres[0] };
    await checkReport(call, report);
    const part = { skip: from, limit: oneMore(maxRows) };
    const { results, hidden } =
      report.groupBy.length > 0 ? await runGroups(call, report, part) : await runRows(call, report, part);
    const answer = {
      ...(row.Name !== undefined && { name: row.Name }),
      table: report.table,
      ...pageOf(results, { skip: from, limit: maxRows }),
      ...(hidden.length > 0 && { hidden }),
    };
    return withHints(call, report.table, { where: report.where }, answer);
  },
});

/** Reads the columns, Pointers with names; without `keys`, all fields except the default ones. */
async function runRows(call: ToolCall, { table: className, where, order, keys }: Report, part: { skip: number; limit: number }) {
  const table = tableNamed(call, className);
  const roots = [...new Set(keys.map(rootOf))];
  const columns = roots.length > 0 ? roots : [...table.fields.keys()].filter((name) => !isDefaultField(name));
  const shown = visibleFields(call, table, columns);
  const { keys: read = [], include } = briefly(call, table, columns);
  const inside = keys.filter((key) => key.includes('.') && shown.includes(rootOf(key)));
  // A path inside an Object is read alone, unless the whole field is a column too.
  const isPart = (name: string) => table.fields.get(name)?.type === 'Object' && !keys.includes(name) && roots.includes(name);
  const wanted = [...read.filter((name) => !isPart(name)), ...inside];
  const rows = await findRows(call, className, { where, order, keys: wanted, include, ...part });
  const results: JsonObject[] = rows.map((row) => briefOf(row, shown));
  return { results, hidden: roots.filter((name) => !shown.includes(name)) };
}

/** Reference: tools.md#save-report, system-tables.md#_dynamicqueries. */
const saveReport = defineTool({
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
  listedBy: 'Get-Reports',
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

export const reportsTools: readonly Tool[] = [getReports, runReport, saveReport];
