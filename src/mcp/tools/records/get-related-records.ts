import { visibleFields } from '../../../crm/queries/field-visibility.ts';
import { getRow, tableNamed } from '../../../crm/queries/records.ts';
import { newestReferring, pointingAt, type Referrer, referrersOf } from '../../../crm/queries/references.ts';
import { accessErrors, badArguments, unless } from '../../../crm/refusals.ts';
import { titleFieldsOf, titleOf } from '../../../crm/wire/titles.ts';
import { serviceError } from '../../../errors/fail.ts';
import { type JsonObject, type JsonValue, jsonBytes } from '../../../kernel/json.ts';
import { limit, names, objectId, table } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { MAX_RESULT_BYTES, pageOf } from '../../results/page.ts';

/** Room for what surrounds the records of a table. */
const FRAME_BYTES = 300;

/** Tables that the caller may not read are reported as hidden; those without a related record are omitted. */
export const getRelatedRecords = defineTool({
  name: 'Get-Related-Records',
  group: 'records',
  description: 'Records of other tables that point at this one: a count per table and the newest few.',
  input: { table: table(), objectId: objectId(), relatedTables: names(200).optional(), limit: limit(5, 100) },
  needs: ['mcp:view'],
  effect: 'read',
  async run(call, { table: className, objectId: id, relatedTables, limit: maxRows }) {
    const pointedAt = tableNamed(call, className);
    const keys = ['objectId', ...visibleFields(call, pointedAt, titleFieldsOf(pointedAt))];
    const record = await getRow(call, className, id, { keys });
    const referrers = wanted(referrersOf(call, className), className, relatedTables);
    const results: JsonObject[] = [];
    const left: { [Why in 'hidden' | 'tookTooLong']?: string[] } = {};
    let bytes = MAX_RESULT_BYTES - referrers.length * FRAME_BYTES;
    for (const referrer of referrers) {
      if (call.signal.aborted) throw serviceError('timeout');
      const where = pointingAt(referrer, className, id);
      const found = await unless(['timeout'], 'tookTooLong' as const, () =>
        unless(accessErrors, 'hidden' as const, () => newestOf(call, referrer, where, maxRows, bytes)),
      );
      if (typeof found === 'string') left[found] = [...(left[found] ?? []), referrer.className];
      else if (found) {
        results.push(found);
        bytes -= jsonBytes(found);
      }
    }
    return { objectId: id, Name: titleOf(record) ?? null, results, ...left };
  },
});

/** @throws invalidArguments (107) for a table that does not point at this one */
function wanted(referrers: readonly Referrer[], className: string, names: readonly string[] | undefined): readonly Referrer[] {
  if (!names) return referrers;
  const byName = new Map(referrers.map((referrer) => [referrer.className, referrer]));
  return [...new Set(names)].map(
    (name) =>
      byName.get(name) ??
      badArguments(`relatedTables: ${name.slice(0, 100)} does not point at ${className}`, {
        expected: `Tables that do: ${[...byName.keys()].join(', ').slice(0, 2_000) || 'none'}`,
      }),
  );
}

/** Returns the newest records that point at the record; `null` if there are none. */
async function newestOf(
  call: ToolCall,
  referrer: Referrer,
  where: JsonObject,
  maxRows: number,
  bytes: number,
): Promise<JsonObject | null> {
  const found = await newestReferring(call, referrer, where, maxRows);
  if (!found) return null;
  const newest = found.newest.map(
    ({ objectId: id, title, createdAt }): JsonValue => ({ objectId: id, ...(title !== undefined && { Name: title }), createdAt }),
  );
  const { results } = pageOf(newest, { limit: maxRows }, Math.max(bytes, 0));
  return { table: referrer.className, fields: [...referrer.fields], count: found.count, newest: results };
}
