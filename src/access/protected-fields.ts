import type { TableSchema } from '../schema/model.ts';
import { secretFieldsOf } from '../schema/system-tables.ts';
import { identitiesOf } from './entities.ts';
import type { RowGuard } from './grant.ts';
import type { Principal } from './principal.ts';

/** Which fields of a table a caller does not see, and in which records they are shown after all. */
export interface Visibility {
  readonly hiddenFields: ReadonlySet<string>;
  readonly reveals: ReadonlyMap<string, RowGuard>;
}

/** A list of `protectedFields`: the entity it applies to, and the fields it hides from it. */
type List = readonly [entity: string, fields: readonly string[]];

const userField = 'userField:';
/** Hidden fields are shown nowhere. */
export const nowhere: ReadonlyMap<string, RowGuard> = new Map();

/**
 * Applies `protectedFields`: a field is hidden if every list that applies to the caller hides it, as in Parse. A list `userField:<field>`
 * applies in records whose field points to the caller; in the caller's own `_User` record no list applies.
 * Reference: permissions.md#protected-fields.
 */
export function visibilityFor(principal: Principal, table: TableSchema): Visibility {
  const secret = secretFieldsOf(table.className);
  const lists: readonly List[] = Object.entries(table.permissions.protectedFields ?? {});
  const applying = new Set([...identitiesOf(principal), ...(principal.kind === 'user' ? ['authenticated'] : [])]);
  const everywhere = lists.filter(([entity]) => applying.has(entity));
  const inSome = principal.kind === 'user' ? lists.filter(([entity]) => entity.startsWith(userField)) : [];
  const hidden = (everywhere.length > 0 ? hiddenByAll(everywhere) : hiddenByAny(inSome)).filter((name) => !secret.has(name));
  if (hidden.length === 0) return { hiddenFields: secret, reveals: nowhere };
  const hiddenFields = new Set([...secret, ...hidden]);
  if (principal.kind !== 'user') return { hiddenFields, reveals: nowhere };
  const own: RowGuard[] = table.className === '_User' ? [{ kind: 'record', objectId: principal.userId }] : [];
  const reveals = new Map<string, RowGuard>();
  for (const name of hidden) {
    const guards = [...own, ...shownBy(name, inSome, everywhere.length > 0, principal.userId)];
    if (guards.length > 0) reveals.set(name, guards.length === 1 ? (guards[0] as RowGuard) : { kind: 'any', guards });
  }
  return { hiddenFields, reveals };
}

const hiddenByAny = (lists: readonly List[]) => lists.flatMap(([, fields]) => fields);
const hiddenByAll = (lists: readonly List[]) =>
  hiddenByAny(lists).filter((name) => lists.every(([, fields]) => fields.includes(name)));

/** Returns in which records `userField` lists show a field: where a list without the field applies, or no list with the field applies. */
function shownBy(name: string, lists: readonly List[], hiddenElsewhere: boolean, userId: string): RowGuard[] {
  const held = (some: readonly List[]): RowGuard => {
    return { kind: 'userFields', fields: some.map(([entity]) => entity.slice(userField.length)), userId };
  };
  const showing = lists.filter(([, fields]) => !fields.includes(name));
  const hiding = lists.filter(([, fields]) => fields.includes(name));
  const guards: RowGuard[] = showing.length > 0 ? [held(showing)] : [];
  if (!hiddenElsewhere) guards.push({ kind: 'not', guard: held(hiding) });
  return guards;
}
