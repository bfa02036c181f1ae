import { noTable, oneMore, requireFind, tableIfAny } from '../../../crm/queries/records.ts';
import { aggregate, readGroups } from '../../../crm/reports/aggregate.ts';
import { dateBuckets } from '../../../crm/reports/date-buckets.ts';
import { checkHaving, emptyValue, readMetrics } from '../../../crm/reports/metrics.ts';
import { choice, count, names, object, objects, table, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { withHints } from '../../results/hints.ts';
import { headOf, MAX_RESULT_BYTES } from '../../results/page.ts';

/** A row is at least `{"a":1},`, so no answer holds more; further groups need not be read. */
const MAX_GROUPS = MAX_RESULT_BYTES / 8;

/** All groups unless `limit` is given, which is at most 2,000. Reference: tools.md#aggregate-data. */
export const aggregateData = defineTool({
  name: 'Aggregate-Data',
  group: 'records',
  description:
    'Group, count, sum, avg, min and max inside the database; use it instead of reading rows to total them. metrics: [{op, field, as}]; having and order speak of metrics; dateBucket puts Dates of groupBy together.',
  input: {
    table: table(),
    groupBy: names(10).optional(),
    metrics: objects(50).optional(),
    where: object().optional(),
    having: object().optional(),
    dateBucket: choice(dateBuckets).optional(),
    order: text().optional(),
    limit: count().optional(),
  },
  needs: ['mcp:view'],
  effect: 'read',
  async run(call, { table: className, groupBy = [], metrics: requested, dateBucket, having, limit: maxRows, ...ask }) {
    await requireFind(call, className);
    const schema = tableIfAny(call, className);
    if (!schema) return { results: [], ...noTable(className) };
    const groups = readGroups(schema, groupBy, dateBucket);
    const metrics = readMetrics(schema, requested, groupBy);
    if (having) checkHaving(having, metrics);
    const read = maxRows === undefined ? MAX_GROUPS : oneMore(maxRows);
    const found = await aggregate(call, { table: schema, groups, metrics, having, ...ask, limit: read });
    const { rows, timeZone } = found;
    const isEmpty = groups.length === 0 && rows.length === 0 && !having && maxRows !== 0;
    const all = isEmpty ? [Object.fromEntries(metrics.map((metric) => [metric.name, emptyValue(metric)]))] : rows;
    const page = headOf(all, maxRows ?? all.length, 'There are more groups: narrow where, or choose by order and having.');
    return withHints(call, className, { where: ask.where }, { ...page, ...(timeZone !== undefined && { timeZone }) });
  },
});
