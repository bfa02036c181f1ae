import type { JsonObject } from '../../../kernel/json.ts';
import { pointedRecord } from '../../kit/linked-record.ts';
import { linksTo } from '../../kit/links.ts';
import { callerId, ownerField, ownerFields, requireUser, userPointer } from '../../kit/people.ts';
import { createRow, tableNamed, wireDate } from '../../kit/records.ts';
import { statusPointer, statusesOf, firstOpen } from '../../kit/statuses.ts';
import { parseIsoDate } from '../../../values/index.ts';
import { instant, object, objectId, text } from '../parameters.ts';
import { defineTool } from '../tool.ts';

const TABLE = 'Tasks';

export const createTask = defineTool({
  name: 'Create-Task',
  group: 'work',
  description:
    'Create a task, linked to an account or another record (relatedTo {table, objectId}); by default in the first open status and owned by the signed-in user.',
  input: {
    name: text(1_000),
    date: instant().optional(),
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
    if (relatedTo) Object.assign(data, await linksTo(call, tasks, pointedRecord('relatedTo', relatedTo)));
    if (accountId !== undefined) Object.assign(data, await linksTo(call, tasks, { table: 'Accounts', objectId: accountId }));
    if (ownerId !== undefined && ownerFields(tasks).length > 0) {
      await requireUser(call, 'ownerId', ownerId);
      data[ownerField(tasks)] = userPointer(ownerId);
    }
    const statuses = await statusesOf(call, tasks, 'StatusId');
    const status = statusId === undefined ? firstOpen(statuses)?.objectId : statusId;
    if (status !== undefined) data.StatusId = await statusPointer(call, tasks, 'StatusId', status);
    const created = await createRow(call, TABLE, {
      Name,
      ...(date !== undefined && { Date: wireDate(parseIsoDate(date) ?? 0) }),
      ...(description !== undefined && { Description: description }),
      ...data,
    });
    return { ...created, ...data };
  },
});
