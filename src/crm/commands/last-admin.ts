import { ADMIN } from '../../access/index.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { ADMIN_KEY } from '../../users/index.ts';
import type { CrmContext } from '../context.ts';
import { findMembers, findRoles, type Role } from '../queries/roles.ts';
import { badArguments } from '../refusals.ts';
import { inTurn } from './exclusive.ts';

/** A change of one record. */
interface Change {
  readonly table: string;
  readonly objectId: string;
  readonly data: JsonObject;
}

/** Does what may take administrators out. Such works wait for each other, since each looks who would be left. */
export const inAdminTurn = <T>(context: CrmContext, work: (context: CrmContext) => Promise<T>): Promise<T> =>
  inTurn(context, ADMIN_KEY, work);

/**
 * Carries a change of a record out, unless nobody who may sign in would be left in `Admin`.
 * @throws invalidArguments (107); permissionDenied (119) for who may not read roles and blocks a user
 */
export function keepingAnAdmin<T>(
  context: CrmContext,
  { table, objectId, data }: Change,
  write: (context: CrmContext) => Promise<T>,
): Promise<T> {
  const blocks = table === '_User' && own(data, 'active') === false;
  const removed = table === '_Role' ? removedBy(own(data, 'users')) : [];
  if (!blocks && removed.length === 0) return write(context);
  return inAdminTurn(context, async (context) => {
    if (blocks) await requireAnotherAdmin(context, [objectId]);
    else if ((await adminRole(context))?.objectId === objectId) await requireAnotherAdmin(context, removed);
    return write(context);
  });
}

/**
 * Before users are taken out of `Admin`, or out of the system: without an active administrator nobody could give the role again, but with a key.
 * @param taken their ids; `all` members
 * @throws invalidArguments (107) where no active member would be left; permissionDenied (119)
 */
export async function requireAnotherAdmin(context: CrmContext, taken: readonly string[] | 'all'): Promise<void> {
  const admin = await adminRole(context);
  if (!admin) return;
  const hasActive = async (which: JsonObject): Promise<boolean> =>
    (await findMembers(context, admin, { where: { ...which, active: { $ne: false } }, keys: ['objectId'], limit: 1 })).length > 0;
  const isTaken = taken === 'all' ? {} : { objectId: { $in: [...taken] } };
  if (!(await hasActive(isTaken))) return;
  if (taken !== 'all' && (await hasActive({ objectId: { $nin: [...taken] } }))) return;
  badArguments(`the user is the last active member of ${ADMIN}`, {
    expected: `Give another user the role ${ADMIN} first`,
    next: 'Get-Roles',
  });
}

const adminRole = async (context: CrmContext): Promise<Role | undefined> => (await findRoles(context, { name: ADMIN }))[0];

/** The users that a change of a role's members takes out of it; whatever has no such form, the write itself refuses. */
function removedBy(users: JsonValue | undefined): readonly string[] | 'all' {
  if (users === null) return 'all';
  if (!isJsonObject(users ?? null)) return [];
  const { __op: op, objects, ops } = users as JsonObject;
  if (op === 'Delete') return 'all';
  if (op === 'Batch' && Array.isArray(ops)) return ops.flatMap((one) => [...removedIn(one)]);
  return op === 'RemoveRelation' && Array.isArray(objects) ? objects.flatMap(idIn) : [];
}

/** A step of a Batch, which holds no other Batch. */
function removedIn(step: JsonValue): readonly string[] {
  const removed = isJsonObject(step) && step.__op === 'RemoveRelation' ? removedBy(step) : [];
  return removed === 'all' ? [] : removed;
}

const idIn = (member: JsonValue): string[] =>
  isJsonObject(member) && typeof member.objectId === 'string' ? [member.objectId] : [];
