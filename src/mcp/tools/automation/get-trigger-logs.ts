import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { oneMore, pageOf } from '../../kit/page.ts';
import { during } from '../../kit/range.ts';
import { findRows, type Row, unless, unseen } from '../../kit/records.ts';
import { shortText } from '../../kit/short-text.ts';
import { objectId as anyId, flag, instant, limit, recordId, skip } from '../parameters.ts';
import type { ToolCall } from '../tool.ts';
import { defineTool } from '../tool.ts';

const LONGEST_ERROR = 1_000;

/** SPEC "`_syslogTriggers` fields". */
export const getTriggerLogs = defineTool({
  name: 'Get-Trigger-Logs',
  group: 'automation',
  description: 'Runs of triggers with their errors, newest first.',
  input: {
    triggerId: recordId().optional(),
    objectId: anyId().optional(),
    from: instant().optional(),
    to: instant().optional(),
    errorsOnly: flag().optional(),
    limit: limit(20),
    skip: skip(),
  },
  needs: ['mcp:view'],
  effect: 'read',
  about: '_syslogTriggers',
  async run(call, { triggerId, objectId, from, to, errorsOnly, limit: most, skip: start }) {
    const where = {
      ...(triggerId !== undefined && { triggerId }),
      ...(objectId !== undefined && { objectIdValue: objectId }),
      ...during('createdAt', from, to),
      ...(errorsOnly === true && { error: { $exists: true } }),
    };
    const keys = ['triggerId', 'actionId', 'event', 'objectIdValue', 'error'];
    const ask = { where, keys, order: '-createdAt,-objectId', skip: start, limit: oneMore(most) };
    const rows = await findRows(call, '_syslogTriggers', ask);
    const triggers = await triggersOf(call, rows);
    return pageOf(
      rows.map((row) => runOf(row, triggers)),
      { skip: start, limit: most },
    );
  },
});

/** The definitions that rows speak of, by their ids; those that are gone, or that the caller may not see, are missing. */
async function triggersOf(call: ToolCall, rows: readonly Row[]): Promise<ReadonlyMap<JsonValue | undefined, Row>> {
  const ids = [...new Set(rows.flatMap(({ triggerId }) => (typeof triggerId === 'string' ? [triggerId] : [])))];
  const ask = { where: { objectId: { $in: ids } }, keys: ['Name', 'table'], limit: ids.length };
  const found = ids.length === 0 ? [] : await unless(unseen, [], () => findRows(call, '_Trigger', ask));
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
    ...(typeof error === 'string' && { error: shortText(plainError(error), LONGEST_ERROR) }),
  };
}

/** SPEC "`_syslogTriggers` fields": the error is a JSON string. Rows that clients wrote may hold anything. */
function plainError(text: string): string {
  try {
    const error: unknown = JSON.parse(text);
    return typeof error === 'string' ? error : text;
  } catch {
    return text;
  }
}
