import { findRows, oneMore, type Row, rowsWithIds } from '../../../crm/queries/records.ts';
import { accessErrors, unless } from '../../../crm/refusals.ts';
import { during, rangeOf, rangeToJson } from '../../../crm/time/range.ts';
import { shortText } from '../../../crm/wire/short-text.ts';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { objectId as anyId, flag, limit, localTime, recordId, skip } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { pageOf } from '../../results/page.ts';

const MAX_ERROR_LENGTH = 1_000;

/** Reference: tools.md#get-trigger-logs, system-tables.md#_syslogtriggers. */
export const getTriggerLogs = defineTool({
  name: 'Get-Trigger-Logs',
  group: 'automation',
  description: 'Runs of triggers with their errors, newest first.',
  input: {
    triggerId: recordId().optional(),
    objectId: anyId().optional(),
    from: localTime().optional(),
    to: localTime().optional(),
    errorsOnly: flag().optional(),
    limit: limit(20),
    skip: skip(),
  },
  needs: ['mcp:view'],
  effect: 'read',
  about: '_syslogTriggers',
  async run(call, { triggerId, objectId, from, to, errorsOnly, limit: maxRows, skip: start }) {
    const range = await rangeOf(call, { from, to }, true);
    const where = {
      ...(triggerId !== undefined && { triggerId }),
      ...(objectId !== undefined && { objectIdValue: objectId }),
      ...during('createdAt', range),
      ...(errorsOnly === true && { error: { $exists: true } }),
    };
    const keys = ['triggerId', 'actionId', 'event', 'objectIdValue', 'error'];
    const ask = { where, keys, order: '-createdAt,-objectId', skip: start, limit: oneMore(maxRows) };
    const rows = await findRows(call, '_syslogTriggers', ask);
    const triggers = await triggersOf(call, rows);
    const runs = rows.map((row) => runOf(row, triggers));
    return { ...pageOf(runs, { skip: start, limit: maxRows }), ...rangeToJson(range) };
  },
});

/** Returns the triggers that the rows refer to, by id, except those that are deleted or hidden from the caller. */
async function triggersOf(call: ToolCall, rows: readonly Row[]): Promise<ReadonlyMap<JsonValue | undefined, Row>> {
  const ids = rows.flatMap(({ triggerId }) => (typeof triggerId === 'string' ? [triggerId] : []));
  const found = await unless(accessErrors, [], () => rowsWithIds(call, '_Trigger', ids, ['Name', 'table']));
  return new Map(found.map((row) => [row.objectId, row]));
}

function runOf(row: Row, triggers: ReadonlyMap<JsonValue | undefined, Row>): JsonObject {
  const { triggerId = null, actionId = null, event = null, objectIdValue = null, error } = row;
  const trigger = triggers.get(triggerId);
  return {
    at: row.createdAt ?? null,
    triggerId,
    ...(trigger?.Name !== undefined && { trigger: trigger.Name }),
    ...(trigger?.table !== undefined && { table: trigger.table }),
    actionId,
    event,
    objectId: objectIdValue,
    ...(typeof error === 'string' && { error: shortText(plainError(error), MAX_ERROR_LENGTH) }),
  };
}

/** Returns the error of a row: a JSON string (system-tables.md#_syslogtriggers). Rows that clients wrote may contain any text. */
function plainError(text: string): string {
  try {
    const error: unknown = JSON.parse(text);
    return typeof error === 'string' ? error : text;
  } catch {
    return text;
  }
}
