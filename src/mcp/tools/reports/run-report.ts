import type { JsonObject } from '../../../kernel/json.ts';
import { isDefaultField } from '../../../schema/change.ts';
import { rootOf } from '../../../schema/naming.ts';
import { limit, object, recordId, skip } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { oneMore, pageOf } from '../../kit/answers/page.ts';
import { briefly, briefOf } from '../../kit/reading/brief.ts';
import { withHints } from '../../kit/reading/hints.ts';
import { findRows } from '../../kit/reading/records.ts';
import { tableNamed } from '../../kit/reading/tables.ts';
import { seen } from '../../kit/reading/visible.ts';
import { runGroups } from '../../kit/reports/groups.ts';
import { checkReport, REPORTS, type Report, readReport } from '../../kit/reports/report.ts';

/** Runs with the caller's rights on the report's table. */
export const runReport = defineTool({
  name: 'Run-Report',
  group: 'reports',
  description: 'Run a saved report, with an optional extra filter.',
  input: { reportId: recordId(), where: object().optional(), limit: limit(50), skip: skip() },
  needs: ['mcp:view'],
  effect: 'read',
  about: REPORTS,
  listedBy: 'Get-Reports',
  async run(call, { reportId, where: extra, limit: most, skip: from }) {
    const { row, ...saved } = await readReport(call, reportId);
    const wheres = [saved.where, extra].filter((where) => where !== undefined);
    const report: Report = { ...saved, where: wheres.length > 1 ? { $and: wheres } : wheres[0] };
    await checkReport(call, report);
    const part = { skip: from, limit: oneMore(most) };
    const { results, hidden } =
      report.groupBy.length > 0 ? await runGroups(call, report, part) : await runRows(call, report, part);
    const answer = {
      ...(row.Name !== undefined && { name: row.Name }),
      table: report.table,
      ...pageOf(results, { skip: from, limit: most }),
      ...(hidden.length > 0 && { hidden }),
    };
    return withHints(call, report.table, { where: report.where }, answer);
  },
});

/** The columns, Pointers with names; without `keys` all fields but those that every record has. */
async function runRows(call: ToolCall, { table: className, where, order, keys }: Report, part: { skip: number; limit: number }) {
  const table = tableNamed(call, className);
  const roots = [...new Set(keys.map(rootOf))];
  const columns = roots.length > 0 ? roots : [...table.fields.keys()].filter((name) => !isDefaultField(name));
  const shown = seen(call, table, columns);
  const { keys: read = [], include } = briefly(call, table, columns);
  const inside = keys.filter((key) => key.includes('.') && shown.includes(rootOf(key)));
  // A place inside an Object is read alone, unless the whole of it is a column too.
  const isPart = (name: string) => table.fields.get(name)?.type === 'Object' && !keys.includes(name) && roots.includes(name);
  const wanted = [...read.filter((name) => !isPart(name)), ...inside];
  const rows = await findRows(call, className, { where, order, keys: wanted, include, ...part });
  const results: JsonObject[] = rows.map((row) => briefOf(row, shown));
  return { results, hidden: roots.filter((name) => !shown.includes(name)) };
}
