import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { checkWrapperKeys } from '../json/keys.ts';
import type { ValueType } from './type.ts';

const rights: ReadonlySet<string> = new Set(['read', 'write']);

/**
 * A map of user ids or roles to `{read, write}` Booleans. Only `true` is kept, as in Parse; an entity without rights stays, since an empty map
 * restricts nobody while `{<id>: {}}` restricts everybody. Throws invalidAcl (123) for any other shape. An empty map is stored as `{}` here;
 * callers may clear the column instead. Reference: types.md#acl.
 */
export const aclType: ValueType = {
  type: 'ACL',
  storage: 'json',
  decode(value) {
    if (!isJsonObject(value)) return fail('invalidAcl', 'it is not an object');
    checkWrapperKeys(value);
    const kept: JsonObject = {};
    for (const [entity, given] of Object.entries(value)) {
      const name = entity.slice(0, limits.nameLength);
      if (entity === '' || entity === '*unresolved') fail('invalidAcl', `${name} is no user or role`);
      if (!isJsonObject(given)) return fail('invalidAcl', `the rights of ${name} are not an object`);
      const own: JsonObject = {};
      for (const [right, granted] of Object.entries(given)) {
        if (!rights.has(right) || typeof granted !== 'boolean')
          fail('invalidAcl', `the rights of ${name} are not read and write`);
        if (granted) own[right] = true;
      }
      kept[entity] = own;
    }
    return JSON.stringify(kept);
  },
};
