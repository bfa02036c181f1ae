import type { JsonObject } from '../../../kernel/json.ts';
import { clpActions, type TableSchema } from '../../../schema/model.ts';

/** Whom permissions name for everybody, and for everybody who signed in. */
export const everybody: readonly string[] = ['*', 'requiresAuthentication'];

/**
 * What the permissions of tables give to an entity: names of tables by what may be done with them, such as `find get create`.
 * @param entities `role:<Name>`, `*`, `requiresAuthentication`: what is given to any of them
 */
export function rightsOf(tables: readonly TableSchema[], entities: readonly string[]): JsonObject {
  const rights = new Map<string, string[]>();
  for (const { className, permissions } of tables) {
    const given = clpActions.filter((action) => {
      const grants = permissions[action];
      return grants !== undefined && entities.some((entity) => Object.hasOwn(grants, entity) && grants[entity] === true);
    });
    if (given.length > 0) rights.set(given.join(' '), [...(rights.get(given.join(' ')) ?? []), className]);
  }
  return Object.fromEntries(rights);
}
