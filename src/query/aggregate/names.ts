import { fail } from '../../errors/fail.ts';
import { limits } from '../../kernel/limits.ts';
import { forbiddenKeys } from '../../schema/model.ts';

const aliases: ReadonlyMap<string, string> = new Map([
  ['_id', 'objectId'],
  ['_created_at', 'createdAt'],
  ['_updated_at', 'updatedAt'],
]);

/** Returns the field of one of Parse's storage names (`_id`, `_created_at`, `_p_owner`); other names stand for themselves. */
export function aliasOf(name: string): string {
  return aliases.get(name) ?? (name.startsWith('_p_') ? name.slice(3) : name);
}

/** Returns the output name of a field that a stage makes; `_id` makes `objectId`. @throws invalidFieldName (105) */
export function outputName(name: string): string {
  if (name === '_id') return 'objectId';
  if (name === '' || name.length > limits.nameLength || name.startsWith('$') || name.includes('.') || forbiddenKeys.has(name))
    fail('invalidFieldName', name.slice(0, limits.nameLength));
  return name;
}
