import type { Entry, FieldChange } from '../../../crm/history/change-walk.ts';
import { grantOfPast } from '../../../crm/history/past.ts';
import { causeOf, MAX_ROWS_READ, readHistory } from '../../../crm/history/read-history.ts';
import { named, namesOf, withPointerNames } from '../../../crm/queries/names.ts';
import { oneMore, type Row, tableNamed } from '../../../crm/queries/records.ts';
import { beginningOf } from '../../../crm/wire/short-text.ts';
import { pointedAt } from '../../../crm/wire/values.ts';
import { fail } from '../../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { isLog } from '../../../schema/system-tables.ts';
import { limit, names, objectId, skip, table } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { pageOf } from '../../results/page.ts';

/** Reference: tools.md#get-timeline, audit.md#timeline. */
export const getTimeline = defineTool({
  name: 'Get-Timeline',
  group: 'history',
  description: 'Change history of one record: who, when, field from and to.',
  input: { table: table(), objectId: objectId(), fields: names(100).optional(), limit: limit(20), skip: skip() },
  needs: ['mcp:view'],
  effect: 'read',
  async run(call, { table: className, objectId: id, fields, limit: maxRows, skip: from }) {
    const about = tableNamed(call, className);
    const grant = await grantOfPast(call, about, id);
    const needed = from + oneMore(maxRows);
    const { entries, cutAt } = await readHistory(call, { about, objectId: id, grant, fields, needed });
    const shown = entries.filter(({ changes, row }) => fields === undefined || changes.size > 0 || row.event === 'delete');
    if (shown.length === 0 && grant.isGone) fail('objectNotFound');
    const page = pageOf(await describe(call, shown.slice(from, from + oneMore(maxRows))), { skip: from, limit: maxRows });
    if (cutAt) page.hint = `Only the newest ${MAX_ROWS_READ} writes of the record were looked at.`;
    if (shown.length === 0 && !about.timeline && !isLog(className))
      page.hint = `The timeline of ${className} is off; Set-Table-Timeline turns it on.`;
    return page;
  },
});

async function describe(call: ToolCall, entries: readonly Entry[]): Promise<JsonObject[]> {
  const users = await namesOf(
    call,
    '_User',
    entries.map(({ row }) => pointedAt(row.user)).filter((id) => id !== undefined),
  );
  const values = entries.flatMap(({ changes }) => [...changes.values()].flatMap(valuesOf));
  const shown = (await withPointerNames(call, values)).map(beginningOf).values();
  const next = (): JsonValue => shown.next().value ?? null;
  return entries.map(({ row, changes }) => {
    const changed: JsonObject = Object.create(null);
    for (const [field, { from, steps }] of changes) {
      const before: JsonObject = from === undefined ? {} : { from: next() };
      // A field operator does not record its result.
      const after: JsonObject = steps
        ? { change: Object.fromEntries([...steps.keys()].map((name) => [name, next()])) }
        : { to: next() };
      changed[field] = { ...before, ...after };
    }
    return {
      at: row.createdAt as JsonValue,
      event: row.event as JsonValue,
      ...writerOf(row, users),
      ...(changes.size > 0 && { changes: changed }),
    };
  });
}

/** Returns the values of a change, in display order. */
const valuesOf = ({ from, to = null, steps }: FieldChange): JsonValue[] => [
  ...(from === undefined ? [] : [from]),
  ...(steps ? steps.values() : [to]),
];

/** Returns who wrote, and by what. */
function writerOf(row: Row, users: ReadonlyMap<string, string>): JsonObject {
  const { userId, referer, triggerId } = causeOf(row);
  return {
    ...(userId !== undefined && { user: named(userId, users) }),
    ...(referer !== undefined && { referer }),
    ...(triggerId !== undefined && { trigger: triggerId }),
  };
}
