import type { JsonObject } from '../../../kernel/json.ts';
import type { ToolCall } from '../../definition/tool.ts';
import { badArguments } from '../answers/refusals.ts';
import { ADMIN, findMembers, findRoles } from './roles.ts';

/**
 * Before a user is taken out of `Admin`, or out of the system: without an active administrator nobody could give the role again, but with a key.
 * @throws invalidArguments (107) where he is the last active member; permissionDenied (119)
 */
export async function requireAnotherAdmin(call: ToolCall, userId: string): Promise<void> {
  const [admin] = await findRoles(call, { name: ADMIN });
  if (!admin) return;
  const hasActive = async (objectId: JsonObject | string): Promise<boolean> => {
    const where = { objectId, active: { $ne: false } };
    return (await findMembers(call, admin, { where, keys: ['objectId'], limit: 1 })).length > 0;
  };
  if (!(await hasActive(userId)) || (await hasActive({ $ne: userId }))) return;
  badArguments(`the user is the last active member of ${ADMIN}`, {
    expected: `Give another user the role ${ADMIN} first`,
    next: 'Get-Roles',
  });
}
