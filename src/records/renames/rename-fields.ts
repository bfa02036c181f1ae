import { PresentNames } from '../../query/present-names.ts';
import { applyChanges } from '../../schema/change.ts';
import { type FieldRenames, planRenames, schemaPartsRenamed } from '../../schema/definition-renames.ts';
import { type Schema, tableOf } from '../../schema/model.ts';
import type { RecordContext } from '../context/context.ts';
import type { FollowedNames, NameHolder, Renamed } from '../context/name-holder.ts';
import { ownNameHolders } from './holders.ts';

/** Returns all that knows records which name fields. */
export const nameHolders = ({ hooks }: Pick<RecordContext, 'hooks'>): readonly NameHolder[] => [
  ...(hooks.nameHolders ?? []),
  ...ownNameHolders,
];

/** Returns a schema after renames of fields in several tables. @throws the errors of `planRenames` */
export const afterRenames = (schema: Schema, renames: ReadonlyMap<string, FieldRenames>): Schema =>
  [...renames].reduce((now, [className, one]) => applyChanges(now, planRenames(tableOf(now, className), one)), schema);

/**
 * Finds what names fields of several tables that are to be renamed in one commit.
 * @param except as in `Renamed`
 * @throws as `followRenames`
 */
export async function followAllRenames(
  context: RecordContext,
  renames: ReadonlyMap<string, FieldRenames>,
  except: ReadonlySet<string>,
): Promise<Pick<FollowedNames, 'conditions' | 'steps'>> {
  const names = new PresentNames(afterRenames(context.store.schema(), renames));
  const followed: FollowedNames[] = [];
  for (const [className, one] of renames)
    followed.push(...(await followedBy(context, { className, renames: one, names, except })));
  return {
    conditions: (now) => followed.flatMap((each) => each.conditions(now)),
    steps: (now) => followed.flatMap((each) => each.steps(now)),
  };
}

async function followedBy(context: RecordContext, renamed: Renamed): Promise<FollowedNames[]> {
  const followed: FollowedNames[] = [];
  for (const holder of nameHolders(context)) followed.push(await holder.follow(context.store, renamed));
  return followed;
}

/**
 * Finds what names fields that are to be renamed: definitions of triggers, reports, labels, settings. Their number, not that of the records, decides
 * what this costs.
 * @returns what belongs into the commit of the changes of `planRenames`
 * @throws the errors of `planRenames`; unavailable, timeout
 */
export async function followRenames(context: RecordContext, className: string, renames: FieldRenames): Promise<FollowedNames> {
  const schema = context.store.schema();
  const table = schema.tables.get(className);
  if (!table || renames.size === 0) return { changed: {}, conditions: () => [], steps: () => [] };
  const names = new PresentNames(applyChanges(schema, planRenames(table, renames)));
  const followed = await followedBy(context, { className, renames, names });
  return {
    changed: Object.assign({}, schemaPartsRenamed(table, renames), ...followed.map(({ changed }) => changed)),
    conditions: (now) => followed.flatMap((one) => one.conditions(now)),
    steps: (now) => followed.flatMap((one) => one.steps(now)),
  };
}
