import type { CrmContext } from '../context.ts';
import { accessErrors, unless } from '../refusals.ts';
import { rowsWithIds } from './records.ts';

/** ObjectIds by table. */
export type Ids = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Returns which of the records exist, as far as the caller may find them.
 * @returns `hidden`: tables in which the caller may not find, so that nothing is known
 */
export async function presentIds(
  context: CrmContext,
  ids: Ids,
): Promise<{ readonly present: Ids; readonly hidden: readonly string[] }> {
  const present = new Map<string, ReadonlySet<string>>();
  const hidden: string[] = [];
  for (const [className, wanted] of ids) {
    const found = await unless(accessErrors, null, () => idsFound(context, className, wanted));
    if (found) present.set(className, found);
    else hidden.push(className);
  }
  return { present, hidden };
}

/** Returns those of the records that the caller may find. @throws what `findRecords` throws */
export async function idsFound(context: CrmContext, className: string, ids: Iterable<string>): Promise<ReadonlySet<string>> {
  return new Set((await rowsWithIds(context, className, ids)).map(({ objectId }) => objectId));
}
