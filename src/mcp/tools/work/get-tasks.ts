import type { JsonObject } from '../../../kernel/json.ts';
import type { TableSchema } from '../../../schema/model.ts';
import { choice, flag, limit, objectId, skip } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { oneMore, pageOf } from '../../kit/answers/page.ts';
import { hiddenStatuses, openOnly, statusesOf } from '../../kit/crm/statuses.ts';
import { userPointer } from '../../kit/people/users.ts';
import { briefly, briefOf } from '../../kit/reading/brief.ts';
import { filledFirst } from '../../kit/reading/filled-first.ts';
import { requireField, tableNamed } from '../../kit/reading/tables.ts';
import { askable } from '../../kit/reading/visible.ts';
import { addDays, dayIn, startOfDay, timeZoneOf } from '../../kit/time/time-zone.ts';
import { pointer, wireDate } from '../../kit/values/wire.ts';

const TABLE = 'Tasks';
const shown = ['Name', 'Date', 'StatusId', 'OwnerId', 'AccountId', 'ContactId', 'SaleId', 'CaseId', 'TypeId', 'Important'];
const WEEK = 7;

/** By whole days of the system's time zone: a task of today is not overdue yet. */
export const getTasks = defineTool({
  name: 'Get-Tasks',
  group: 'work',
  description: 'Tasks by owner, account or due date (before today, today, the next 7 days); open ones alone by default.',
  input: {
    ownerId: objectId().optional(),
    accountId: objectId().optional(),
    due: choice(['overdue', 'today', 'week', 'all']).default('all'),
    includeDone: flag().default(false),
    limit: limit(20),
    skip: skip(),
  },
  needs: ['mcp:view'],
  effect: 'read',
  about: TABLE,
  async run(call, { ownerId, accountId, due, includeDone, limit: most, skip: from }) {
    const tasks = tableNamed(call, TABLE);
    if (due !== 'all') requireField(tasks, 'Date', 'Date');
    const statuses = includeDone ? undefined : await statusesOf(call, tasks, 'StatusId');
    const zone = await timeZoneOf(call);
    const where: JsonObject = {
      ...(ownerId !== undefined && { OwnerId: userPointer(ownerId) }),
      ...(accountId !== undefined && { AccountId: pointer('Accounts', accountId) }),
      ...dueOnly(due, zone),
      ...(!includeDone && (statuses ? openOnly(statuses) : notCompleted(call, tasks))),
    };
    const ask = { ...briefly(call, tasks, shown), where, skip: from, limit: oneMore(most) };
    const rows = await filledFirst(call, tasks, 'Date', ask);
    const results = rows.map((row) => briefOf(row, shown));
    const hidden = hiddenStatuses(statuses);
    return {
      ...pageOf(results, { skip: from, limit: most }),
      timeZone: zone,
      ...(hidden.length > 0 && { hidden }),
    };
  },
});

function dueOnly(due: 'overdue' | 'today' | 'week' | 'all', zone: string): JsonObject {
  if (due === 'all') return {};
  const today = dayIn(zone, Date.now());
  const start = wireDate(startOfDay(zone, today));
  if (due === 'overdue') return { Date: { $lt: start } };
  return { Date: { $gte: start, $lt: wireDate(startOfDay(zone, addDays(today, due === 'today' ? 1 : WEEK))) } };
}

/** Where tasks have no status, the time at which they were done tells. */
const notCompleted = (call: ToolCall, tasks: TableSchema): JsonObject =>
  askable(call, tasks, ['CompletedAt']).length > 0 ? { CompletedAt: { $exists: false } } : {};
