import type { Grants } from '../schema/model.ts';
import type { Principal } from './principal.ts';

/** Ids of users may have any form (records.md#create). One that looks like the name of a role, or of a field's users, identifies nobody. */
const otherNames = /^(?:role|userField):/;

/** Returns the names by which ACLs and permissions may mean the caller: `*`, the user's id, `role:<Name>`. */
export function identitiesOf(principal: Principal): readonly string[] {
  if (principal.kind !== 'user') return ['*'];
  const roles = principal.roles.map((role) => `role:${role}`);
  return otherNames.test(principal.userId) ? ['*', ...roles] : ['*', principal.userId, ...roles];
}

/** Whether permissions name the caller. The union over all roles counts (users.md#roles). */
export function names(grants: Grants | undefined, principal: Principal): boolean {
  if (!grants) return false;
  const named = (entity: string) => Object.hasOwn(grants, entity) && grants[entity] === true;
  if (principal.kind === 'user' && named('requiresAuthentication')) return true;
  return identitiesOf(principal).some(named);
}

/** Returns the fields of `pointerFields`. */
export function pointerFieldsOf(grants: Grants | undefined): readonly string[] {
  const fields = grants && Object.hasOwn(grants, 'pointerFields') ? grants.pointerFields : undefined;
  return Array.isArray(fields) ? fields : [];
}
