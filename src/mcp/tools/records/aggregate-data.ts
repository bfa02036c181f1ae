import { aggregate, readGroups } from '../../kit/aggregate.ts';
import { dateBuckets } from '../../kit/buckets.ts';
import { checkHaving, emptyValue, readMetrics } from '../../kit/metrics.ts';
import { missingTable } from '../../kit/missing-table.ts';
import { oneMore, pageOf } from '../../kit/page.ts';
import { findRows } from '../../kit/records.ts';
import { choice, limit, MOST_ROWS, names, object, objects, table, text } from '../parameters.ts';
import { defineTool } from '../tool.ts';

/** SPEC "Limits": all groups unless `limit` says less, 2,000 at the most. */
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
    limit: limit(MOST_ROWS),
  },
  needs: ['mcp:view'],
  effect: 'read',
  async run(call, { table: className, groupBy = [], metrics: asked, dateBucket, having, limit: most, ...ask }) {
    // Who may not read it learns nothing of its fields.
    await findRows(call, className, { limit: 0 });
    const schema = call.context.store.schema().tables.get(className);
    if (!schema) return { results: [], ...missingTable(call, className) };
    const groups = readGroups(schema, groupBy, dateBucket);
    const metrics = readMetrics(schema, asked, groupBy);
    if (having) checkHaving(having, metrics);
    const found = await aggregate(call, { table: schema, groups, metrics, having, ...ask, limit: oneMore(most) });
    const { rows, timeZone } = found;
    const isEmpty = groups.length === 0 && rows.length === 0 && !having && most > 0;
    const all = isEmpty ? [Object.fromEntries(metrics.map((metric) => [metric.name, emptyValue(metric)]))] : rows;
    const { results, nextSkip } = pageOf(all, { limit: most });
    return {
      results,
      ...(nextSkip !== undefined && {
        truncated: true,
        hint: 'There are more groups: narrow where, or choose by order and having.',
      }),
      ...(timeZone !== undefined && { timeZone }),
    };
  },
});
