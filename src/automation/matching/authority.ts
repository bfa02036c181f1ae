import { authorize, hiddenFieldsOf, master, type Principal } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { evaluate } from '../../query/evaluate/index.ts';
import type { Filter } from '../../query/model/filter.ts';
import type { Schema } from '../../schema/model.ts';
import { presentUser } from '../../users/index.ts';
import type { AutomationSystem } from '../model/action.ts';
import { ActionFailed } from '../model/action.ts';
import type { Trigger } from '../model/model.ts';
import { matchesNow, type SnapshotRecord } from './conditions.ts';

/** The caller whose rights a trigger uses, and the fields of its record that are hidden from that caller. */
export interface Authority {
  readonly principal: Principal;
  /** Names, as of `schema`. */
  readonly hidden: ReadonlySet<string>;
  readonly schema: Schema;
}

const authorGone = 'The user who defined the trigger is gone or not active.';
export const unreadable = 'The user who defined the trigger may not read the record.';

const none: ReadonlySet<string> = new Set();

/** Returns the caller that a trigger acts as: its author with current roles, or the master. @throws ActionFailed if the author is gone or inactive */
export async function actingFor({ store }: AutomationSystem, { author }: Trigger): Promise<Principal> {
  if (author === null) return master;
  const user = await presentUser(store, author);
  if (!user) throw new ActionFailed(authorGone);
  return user;
}

/**
 * Returns the caller and the hidden fields for a record. The author must be allowed to read the record as it is in the snapshot (adr/0015).
 * @throws ActionFailed; classMissing (103), permissionDenied (119); unavailable, timeout
 */
export async function authorityOver(system: AutomationSystem, trigger: Trigger, record: SnapshotRecord): Promise<Authority> {
  if (trigger.author === null) return { principal: master, hidden: none, schema: system.store.schema() };
  const principal = await actingFor(system, trigger);
  const { className, objectId } = record;
  const { store } = system;
  const schema = store.schema();
  const table = schema.tables.get(className) ?? fail('classMissing', className);
  const grant = authorize(principal, 'get', table, schema);
  const { rows: guard } = grant;
  // Conditions on other records are evaluated against the current data.
  const ask = (part: Filter) => matchesNow(table, objectId, part)(store);
  const isRead = guard === null || (await evaluate({ kind: 'guard', guard, table }, (field) => record.valueOf(field), ask));
  if (!isRead) throw new ActionFailed(unreadable);
  return { principal, hidden: hiddenFieldsOf(grant), schema };
}
