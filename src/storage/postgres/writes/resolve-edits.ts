import { setImmediate as nextTurn } from 'node:timers/promises';
import { isRefusal, type ServiceError } from '../../../errors/fail.ts';
import type { Field, TableSchema } from '../../../schema/model.ts';
import { hasEdits, textLength } from '../../column-values.ts';
import type { WritePlan } from '../../port.ts';
import type { Dialect } from '../../sql/dialect.ts';
import type { Session } from '../connection/database.ts';
import { recordKey } from './compile-group.ts';
import { type CompileContext, compileBytes } from './compile-mutation.ts';
import { MAX_GROUP_TEXT } from './group-limits.ts';
import { EditedRecords, editedFields, editedUpdates, editsItsChanges, readEdited, resolvePlan } from './json-updates.ts';
import { failedAt, GroupFailed } from './map-error.ts';
import type { QueuedWrite } from './queued-write.ts';
import { recordLocksOf } from './record-locks.ts';
import { advancedPast, returnedBy, SupersededUpdates } from './superseded-updates.ts';

/** Maximum characters of new values computed in a transaction, including superseded ones: a few seconds of work. */
const MAX_COMPUTED_LENGTH = 16 * MAX_GROUP_TEXT;
/** Characters of new values after which the event loop gets a turn. */
const YIELD_AFTER_LENGTH = 1024 * 1024;

/** Number of writes measured first; it doubles each time. Measuring a value costs as much as reading it. */
const FIRST_MEASURED = 8;

/** What is known of a write before its transaction is sent. */
export type ResolvedWrite =
  | { readonly plan: WritePlan }
  | { readonly error: ServiceError }
  /** Superseded: another write of the group is executed for it (superseded-updates.ts). */
  | { readonly by: number; readonly returned: string };

/** A group whose edits must be computed. */
export interface UnresolvedGroup extends CompileContext {
  readonly group: readonly QueuedWrite[];
  /** Whether one write may be executed for several. */
  readonly merged: boolean;
}

/** A group whose edits are computed. */
export interface ResolvedGroup {
  /** Results of the first writes of the group, in their order. */
  readonly resolved: readonly ResolvedWrite[];
  /** The remaining writes: the first ones already reach the limit of one transaction. */
  readonly rest: readonly QueuedWrite[];
}

/**
 * Locks the records of a group and computes its edits in order, as many as fit in memory together. An edit that its record rejects is left out.
 * @throws GroupFailed
 */
export async function resolveGroup(
  session: Session,
  { group, dialect, addresses, merged }: UnresolvedGroup,
): Promise<ResolvedGroup> {
  const covered = new SupersededUpdates();
  const records = new EditedRecords();
  const resolved: ResolvedWrite[] = [];
  try {
    // No limit for a single write: it reads at most one record.
    const end = group.length > 1 ? await readableCount(session, group, dialect) : group.length;
    const taken = group.slice(0, end);
    const locked = Promise.all(recordLocksOf(taken, dialect).map((statement) => session.query(statement)));
    locked.catch(() => {});
    const readings = taken.map(({ plan }) => readEdited(session, plan, dialect, records));
    await locked;
    let kept = 0;
    let made = 0;
    let turn = 0;
    for (let at = 0; at < end && kept <= MAX_GROUP_TEXT && made <= MAX_COMPUTED_LENGTH; at++) {
      if (made - turn > YIELD_AFTER_LENGTH) {
        await nextTurn();
        turn = made;
      }
      const one = await resolveAt(
        group,
        at,
        () => resolvePlan(session, planAt(group, at), dialect, records, readings[at]),
        records,
      );
      resolved.push(one);
      if (!('plan' in one)) continue;
      const text = textLength(one.plan);
      made += text;
      kept += text;
      const before = merged ? covered.next(at, planAt(group, at), one.plan) : undefined;
      const last = before === undefined ? undefined : resolved[before];
      if (before === undefined || !last || !('plan' in last)) continue;
      const returned = returnedBy(last.plan, { addresses });
      kept += returned.length - textLength(last.plan);
      resolved[before] = { by: at, returned };
      resolved[at] = { plan: advancedPast(last.plan, one.plan) };
    }
  } catch (error) {
    throw error instanceof GroupFailed ? error : failedAt(group, group.length, error);
  }
  return { resolved, rest: group.slice(resolved.length) };
}

const planAt = (group: readonly QueuedWrite[], at: number): WritePlan => (group[at] as QueuedWrite).plan;

/** @throws GroupFailed if the write is rejected and others depend on it */
async function resolveAt(
  group: readonly QueuedWrite[],
  at: number,
  resolveOne: () => Promise<WritePlan>,
  { changed }: EditedRecords,
): Promise<ResolvedWrite> {
  const { plan, records } = group[at] as QueuedWrite;
  if (!hasEdits(plan)) return { plan };
  // Then each step must see the earlier ones: the write is executed by itself, step by step.
  if (editsItsChanges(plan)) throw failedAt(group, at, new Error('a write edits what its own steps change'));
  try {
    return { plan: await resolveOne() };
  } catch (error) {
    const isAlone = plan.mutations.length === 1 && !records.some((record) => changed.has(record));
    // The record was read and rejects the edit, before anything was written: the transaction continues.
    if (!isRefusal(error) || !isAlone) throw failedAt(group, at, error);
    return { error };
  }
}

/** Returns a key of the columns of a record that an update edits. */
const editKey = ({ className }: TableSchema, objectId: string, fields: readonly Field[]): string =>
  `${fields.map(({ column }) => column).join('\n')}\n${recordKey(className, objectId)}`;

/** Returns the number of leading writes of a group whose edits may be read together: at least one. */
async function readableCount(session: Session, group: readonly QueuedWrite[], dialect: Dialect): Promise<number> {
  const bytes = new Map<string, number>();
  const counted = new Set<string>();
  let sum = 0;
  for (let at = 0, measured = 0, next = FIRST_MEASURED; at < group.length; at++) {
    if (at === measured) {
      measured += next;
      next *= 2;
      await measure(session, group.slice(at, measured), bytes, dialect);
    }
    for (const update of editedUpdates(planAt(group, at))) {
      const key = editKey(update.table, update.objectId, editedFields(update));
      if (!counted.has(key)) sum += bytes.get(key) ?? 0;
      counted.add(key);
    }
    if (at > 0 && sum > MAX_GROUP_TEXT) return at;
  }
  return group.length;
}

/** Queries the size in bytes of what the edits of some writes read. @param bytes known sizes by `editKey`; extended by this call */
async function measure(
  session: Session,
  group: readonly QueuedWrite[],
  bytes: Map<string, number>,
  dialect: Dialect,
): Promise<void> {
  const requested = new Map<string, { table: TableSchema; fields: readonly Field[]; ids: Set<string> }>();
  for (const { plan } of group)
    for (const update of editedUpdates(plan)) {
      const { table, objectId } = update;
      const fields = editedFields(update);
      if (bytes.has(editKey(table, objectId, fields))) continue;
      const key = editKey(table, '', fields);
      const entry = requested.get(key) ?? { table, fields, ids: new Set<string>() };
      requested.set(key, entry);
      entry.ids.add(objectId);
    }
  const answers = [...requested.values()].map(async ({ table, fields, ids }) => {
    const { rows } = await session.query(compileBytes(table, fields, [...ids], dialect));
    for (const [objectId, size] of rows) bytes.set(editKey(table, objectId as string, fields), size as number);
  });
  await Promise.all(answers);
}
