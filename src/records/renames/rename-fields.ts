import { PresentNames } from '../../query/present-names.ts';
import { applyChanges } from '../../schema/change.ts';
import { type FieldRenames, planRenames, schemaPartsRenamed } from '../../schema/definition-renames.ts';
import type { RecordContext } from '../context/context.ts';
import type { FollowedNames } from '../context/name-holder.ts';
import { ownNameHolders } from './holders.ts';

/**
 * Finds what names fields that are to be renamed: definitions of triggers, reports, labels, settings. Their number, not that of the records, decides
 * what this costs.
 * @returns what belongs into the commit of the changes of `planRenames`
 * @throws the errors of `planRenames`; unavailable, timeout
 */
export async function followRenames(
  { store, hooks }: RecordContext,
  className: string,
  renames: FieldRenames,
): Promise<FollowedNames> {
  const schema = store.schema();
  const table = schema.tables.get(className);
  if (!table || renames.size === 0) return { changed: {}, conditions: () => [], steps: () => [] };
  const names = new PresentNames(applyChanges(schema, planRenames(table, renames)));
  const followed: FollowedNames[] = [];
  for (const holder of [...(hooks.nameHolders ?? []), ...ownNameHolders])
    followed.push(await holder.follow(store, { className, renames, names }));
  return {
    changed: Object.assign({}, schemaPartsRenamed(table, renames), ...followed.map(({ changed }) => changed)),
    conditions: (now) => followed.flatMap((one) => one.conditions(now)),
    steps: (now) => followed.flatMap((one) => one.steps(now)),
  };
}
