import type { ToolCall } from '../tools/tool.ts';
import { findRows, unless, unseen } from './records.ts';

/** ObjectIds by table. */
export type Ids = ReadonlyMap<string, ReadonlySet<string>>;

/** So many are looked up by one query. */
const AT_ONCE = 500;

/**
 * Which of some records are there, as far as the caller may find them.
 * @returns `hidden`: tables that he may not find in, of which nothing is known
 */
export async function presentIds(
  call: ToolCall,
  ids: Ids,
): Promise<{ readonly present: Ids; readonly hidden: readonly string[] }> {
  const present = new Map<string, Set<string>>();
  const hidden: string[] = [];
  for (const [className, wanted] of ids) {
    const found = await unless(unseen, null, () => presentIn(call, className, [...wanted]));
    if (found) present.set(className, found);
    else hidden.push(className);
  }
  return { present, hidden };
}

async function presentIn(call: ToolCall, className: string, ids: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const some = ids.slice(at, at + AT_ONCE);
    const where = { objectId: { $in: some } };
    for (const { objectId } of await findRows(call, className, { where, keys: ['objectId'], limit: some.length }))
      found.add(objectId);
  }
  return found;
}
