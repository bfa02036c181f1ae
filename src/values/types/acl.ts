import { inOneTurn } from '../../admission/body-share.ts';
import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { aclAhead } from '../json/checked-ahead.ts';
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
    const ahead = aclAhead(value);
    if (ahead !== undefined) return ahead;
    return inOneTurn(aclSteps(value));
  },
};

/** Entities that are checked in one step: a millisecond or two. */
const STEP_ENTITIES = 2_000;

/** Decodes a long ACL in steps. @returns what is stored @throws invalidAcl (123), and what `checkWrapperKeys` throws */
export function* aclSteps(value: JsonObject): Generator<undefined, string> {
  const names = Object.keys(value);
  if (names.length <= STEP_ENTITIES) checkWrapperKeys(value);
  for (let at = 0; at < names.length && names.length > STEP_ENTITIES; at += STEP_ENTITIES) {
    checkWrapperKeys(Object.fromEntries(names.slice(at, at + STEP_ENTITIES).map((name) => [name, value[name] as JsonValue])));
    yield;
  }
  const texts: string[] = [];
  let own: JsonObject = {};
  for (const [at, entity] of names.entries()) {
    own[entity] = rightsOf(entity, value[entity] as JsonValue);
    if ((at + 1) % STEP_ENTITIES > 0 && at + 1 < names.length) continue;
    texts.push(JSON.stringify(own).slice(1, -1));
    own = {};
    if (names.length > STEP_ENTITIES) yield;
  }
  return `{${texts.join(',')}}`;
}

function rightsOf(entity: string, given: JsonValue): JsonObject {
  const name = entity.slice(0, limits.nameLength);
  if (entity === '' || entity === '*unresolved') fail('invalidAcl', `${name} is no user or role`);
  if (!isJsonObject(given)) return fail('invalidAcl', `the rights of ${name} are not an object`);
  const own: JsonObject = {};
  for (const [right, granted] of Object.entries(given)) {
    if (!rights.has(right) || typeof granted !== 'boolean') fail('invalidAcl', `the rights of ${name} are not read and write`);
    if (granted) own[right] = true;
  }
  return own;
}
