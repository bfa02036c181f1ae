import type { TableSchema } from '../schema/model.ts';
import { secretFieldsOf } from '../schema/system-tables.ts';
import { identitiesOf } from './entities.ts';
import type { Reveal } from './grant.ts';
import type { Principal } from './principal.ts';

/** What of a table a caller does not see, and in which records he does. */
export interface Visibility {
  readonly hiddenFields: ReadonlySet<string>;
  readonly reveals: readonly Reveal[];
}

const userField = 'userField:';

/**
 * `protectedFields` (CONTRACT "Records", schemas): of all lists that speak of the caller, only what each of them hides is hidden, as in
 * Parse. A list `userField:<field>` speaks of him in the records that hold him there; in his own `_User` record no list does.
 */
export function visibilityFor(principal: Principal, table: TableSchema): Visibility {
  const secret = secretFieldsOf(table.className);
  const lists = table.permissions.protectedFields ?? {};
  const entities = [...identitiesOf(principal), ...(principal.kind === 'user' ? ['authenticated'] : [])];
  const applying = entities.filter((entity) => Object.hasOwn(lists, entity)).map((entity) => lists[entity] as readonly string[]);
  if (applying.length === 0) return { hiddenFields: secret, reveals: [] };
  const hidden = applying.reduce((kept, list) => kept.filter((name) => list.includes(name)));
  return {
    hiddenFields: new Set([...secret, ...hidden]),
    reveals: principal.kind === 'user' ? revealsOf(lists, hidden, principal.userId, table) : [],
  };
}

function revealsOf(
  lists: Readonly<Record<string, readonly string[]>>,
  hidden: readonly string[],
  userId: string,
  table: TableSchema,
): Reveal[] {
  const secret = secretFieldsOf(table.className);
  const revealed = (list: readonly string[]) => new Set(hidden.filter((name) => !list.includes(name) && !secret.has(name)));
  const reveals = Object.keys(lists)
    .filter((entity) => entity.startsWith(userField))
    .map((entity): Reveal => {
      const fields = [entity.slice(userField.length)];
      return { fields: revealed(lists[entity] as readonly string[]), rows: { kind: 'userFields', fields, userId } };
    });
  if (table.className === '_User') reveals.push({ fields: revealed([]), rows: { kind: 'record', objectId: userId } });
  return reveals.filter(({ fields }) => fields.size > 0);
}
