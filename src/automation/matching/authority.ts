import { authorize, master, type Principal, unseenIn } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { evaluate } from '../../query/evaluate/index.ts';
import type { Filter } from '../../query/model/filter.ts';
import { presentUser } from '../../users/index.ts';
import type { AutomationSystem } from '../model/action.ts';
import { ActionFailed } from '../model/action.ts';
import type { Trigger } from '../model/model.ts';
import { asks, type SnapshotRecord } from './conditions.ts';

/** With whose rights a trigger acts, and what it does not see of its record. */
export interface Authority {
  readonly principal: Principal;
  readonly hidden: ReadonlySet<string>;
}

const nobody = 'The user who defined the trigger is gone or not active.';
export const unreadable = 'The user who defined the trigger may not read the record.';

const mastersOwn: Authority = { principal: master, hidden: new Set() };

/** As whom a trigger acts: its author as he is now, else the master. @throws ActionFailed where the author is gone or not active */
export async function actingFor({ store }: AutomationSystem, { author }: Trigger): Promise<Principal> {
  if (author === null) return master;
  const user = await presentUser(store, author);
  if (!user) throw new ActionFailed(nobody);
  return user;
}

/**
 * The same for a record, which the author has to be allowed to read as it is in the snapshot (docs/adr/0015).
 * @throws ActionFailed; classMissing (103), permissionDenied (119); unavailable, timeout
 */
export async function authorityOver(system: AutomationSystem, trigger: Trigger, record: SnapshotRecord): Promise<Authority> {
  if (trigger.author === null) return mastersOwn;
  const principal = await actingFor(system, trigger);
  const { className, objectId } = record;
  const { store } = system;
  const schema = store.schema();
  const table = schema.tables.get(className) ?? fail('classMissing', className);
  const grant = authorize(principal, 'get', table, schema);
  const { rows: guard } = grant;
  // What others have a say in is looked at as it is now.
  const ask = (part: Filter) => asks(table, objectId, part)(store);
  const isRead = guard === null || (await evaluate({ kind: 'guard', guard, table }, (field) => record.valueOf(field), ask));
  if (!isRead) throw new ActionFailed(unreadable);
  return { principal, hidden: unseenIn(grant) };
}
