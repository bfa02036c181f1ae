import { idsFound } from '../../../crm/queries/existing-ids.ts';
import { getRow, tableNamed } from '../../../crm/queries/records.ts';
import { badArguments } from '../../../crm/refusals.ts';
import { pointer, wireDate } from '../../../crm/wire/values.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { createAtomically } from '../../../records/index.ts';
import { names, objectId, table, text } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';

/** Notifies all users in one commit, or none. Reference: tools.md#notify-user, system-tables.md#_notification. */
export const notifyUser = defineTool({
  name: 'Notify-User',
  group: 'users',
  description: 'Send an in-product notification, optionally linked to a record.',
  input: {
    userIds: names(1_000),
    content: text(),
    icon: text(2_000).optional(),
    table: table().optional(),
    objectId: objectId().optional(),
  },
  needs: ['mcp:create'],
  effect: 'add',
  about: '_Notification',
  async run(call, { userIds, content, icon, table: className, objectId: id }) {
    const users = [...new Set(userIds)];
    if (users.length === 0) badArguments('userIds must not be empty', { next: 'Get-all-Users' });
    const about = await recordOf(call, className, id);
    await requireUsers(call, users);
    const body = { Content: content, Date: wireDate(Date.now()), ...(icon !== undefined && { Icon: icon }), ...about };
    const records = users.map((user) => ({ className: '_Notification', body: { ...body, User: pointer('_User', user) } }));
    const made = await createAtomically(call, records);
    return { results: made.map(({ objectId: made }, at) => ({ objectId: made, userId: users[at] ?? null })) };
  },
});

/** Returns the record that a notification links to. The caller must be able to read it. */
async function recordOf(call: ToolCall, className: string | undefined, id: string | undefined): Promise<JsonObject> {
  if (className === undefined && id === undefined) return {};
  if (className === undefined || id === undefined) return badArguments('table and objectId go together');
  tableNamed(call, className);
  await getRow(call, className, id, { keys: ['objectId'] });
  return { objectClass: className, objectIdValue: id };
}

async function requireUsers(call: ToolCall, ids: readonly string[]): Promise<void> {
  const known = await idsFound(call, '_User', ids);
  const missing = ids.filter((id) => !known.has(id));
  if (missing.length > 0)
    badArguments(`userIds: there is no user ${missing.slice(0, 5).join(', ').slice(0, 200)}`, { next: 'Get-all-Users' });
}
