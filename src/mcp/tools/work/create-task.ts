import type { JsonObject } from '../../../kernel/json.ts';
import type { TableSchema } from '../../../schema/model.ts';
import { localTime, object, objectId, text } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { linksTo, linkTargetOf } from '../../kit/crm/links.ts';
import { firstOpen, statusesOf, statusPointer } from '../../kit/crm/statuses.ts';
import { callerId, ownerField, ownerFields, requireUser, userPointer } from '../../kit/people/users.ts';
import { tableNamed } from '../../kit/reading/tables.ts';
import { instantOfArgument } from '../../kit/time/range.ts';
import { pointer, wireDate } from '../../kit/values/wire.ts';
import { createRow } from '../../kit/writing/records.ts';

const TABLE = 'Tasks';
const STATUS = 'StatusId';

export const createTask = defineTool({
  name: 'Create-Task',
  group: 'work',
  description:
    'Create a task, linked to an account or another record (relatedTo {table, objectId}); by default in the first open status and owned by the signed-in user.',
  input: {
    name: text(1_000),
    date: localTime().optional(),
    accountId: objectId().optional(),
    ownerId: objectId().optional(),
    statusId: objectId().optional(),
    description: text(1_000_000).optional(),
    relatedTo: object().optional(),
  },
  needs: ['mcp:create'],
  effect: 'add',
  about: TABLE,
  async run(call, { name: Name, date, accountId, ownerId = callerId(call), statusId, description, relatedTo }) {
    const tasks = tableNamed(call, TABLE);
    const data: JsonObject = {};
    if (relatedTo) Object.assign(data, await linksTo(call, tasks, linkTargetOf('relatedTo', relatedTo)));
    if (accountId !== undefined) Object.assign(data, await linksTo(call, tasks, { table: 'Accounts', objectId: accountId }));
    if (ownerId !== undefined && ownerFields(tasks).length > 0) {
      await requireUser(call, 'ownerId', ownerId);
      data[ownerField(call, tasks)] = userPointer(ownerId);
    }
    const status = statusId === undefined ? await usualStatus(call, tasks) : await statusPointer(call, tasks, STATUS, statusId);
    if (status) data[STATUS] = status;
    if (date !== undefined) data.Date = wireDate(await instantOfArgument(call, date));
    const created = await createRow(call, TABLE, {
      Name,
      ...(description !== undefined && { Description: description }),
      ...data,
    });
    return { ...created, ...data };
  },
});

async function usualStatus(call: ToolCall, tasks: TableSchema): Promise<JsonObject | undefined> {
  const statuses = await statusesOf(call, tasks, STATUS);
  const first = firstOpen(statuses);
  return statuses && first && pointer(statuses.className, first.objectId);
}
