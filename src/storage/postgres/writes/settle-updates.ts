import { setImmediate as nextTurn } from 'node:timers/promises';
import { isRefusal, type ServiceError } from '../../../errors/fail.ts';
import type { Field, TableSchema } from '../../../schema/model.ts';
import type { WritePlan } from '../../port.ts';
import type { Dialect } from '../../sql/dialect.ts';
import type { Session } from '../connection/database.ts';
import { recordKey } from './compile-group.ts';
import { type CompileContext, compileBytes } from './compile-mutation.ts';
import { MAX_GROUP_TEXT, textOf } from './group-limits.ts';
import { EditedRecords, editedFields, editedUpdates, hasEdits, readEdited, settlePlan } from './json-updates.ts';
import { failedAt, GroupFailed } from './map-error.ts';
import type { QueuedWrite } from './queued-write.ts';
import { recordLocksOf } from './record-locks.ts';
import { returnedBy, SupersededUpdates } from './superseded-updates.ts';

/** Characters of new values in a transaction, those too that are not carried out: some seconds of work. */
const MAX_WORK = 16 * MAX_GROUP_TEXT;
/** Characters of new values after which others of the process have their turn. */
const MAX_TURN_LENGTH = 1024 * 1024;

/** Writes whose edits are measured first, then twice as many at a time: measuring a value costs as much as reading it. */
const FIRST_MEASURED = 8;

/** What came of a write before its transaction was sent. */
export type Settled =
  | { readonly plan: WritePlan }
  | { readonly error: ServiceError }
  /** Another write of the group is carried out for it (superseded-updates.ts). */
  | { readonly by: number; readonly returned: string };

/** A group whose edits are to be computed. */
export interface Unsettled extends CompileContext {
  readonly group: readonly QueuedWrite[];
  /** Whether one may be carried out for several. */
  readonly merged: boolean;
}

/** A group whose edits are computed. */
export interface SettledGroup {
  /** Of the first writes of the group, in their order. */
  readonly settled: readonly Settled[];
  /** The others: what the first ones read, and make of it, is as much as one transaction holds. */
  readonly rest: readonly QueuedWrite[];
}

/**
 * Locks the records of a group and computes its edits, one after the other, as many as may be in memory together. An edit that its record
 * refuses is out of it.
 * @throws GroupFailed
 */
export async function settleGroup(session: Session, { group, dialect, addresses, merged }: Unsettled): Promise<SettledGroup> {
  const covered = new SupersededUpdates();
  const records = new EditedRecords();
  const settled: Settled[] = [];
  try {
    // What a single one reads is a record at the most.
    const end = group.length > 1 ? await endOf(session, group, dialect) : group.length;
    const taken = group.slice(0, end);
    const locked = Promise.all(recordLocksOf(taken, dialect).map((statement) => session.query(statement)));
    locked.catch(() => {});
    const readings = taken.map(({ plan }) => readEdited(session, plan, dialect, records));
    await locked;
    let kept = 0;
    let made = 0;
    let turn = 0;
    for (let at = 0; at < end && kept <= MAX_GROUP_TEXT && made <= MAX_WORK; at++) {
      if (made - turn > MAX_TURN_LENGTH) {
        await nextTurn();
        turn = made;
      }
      const one = await settledAt(
        group,
        at,
        () => settlePlan(session, planAt(group, at), dialect, records, readings[at]),
        records,
      );
      settled.push(one);
      if (!('plan' in one)) continue;
      const text = textOf(one.plan);
      made += text;
      kept += text;
      const before = merged ? covered.next(at, planAt(group, at), one.plan) : undefined;
      const last = before === undefined ? undefined : settled[before];
      if (before === undefined || !last || !('plan' in last)) continue;
      const returned = returnedBy(last.plan, { addresses });
      kept += returned.length - textOf(last.plan);
      settled[before] = { by: at, returned };
    }
  } catch (error) {
    throw error instanceof GroupFailed ? error : failedAt(group, group.length, error);
  }
  return { settled, rest: group.slice(settled.length) };
}

const planAt = (group: readonly QueuedWrite[], at: number): WritePlan => (group[at] as QueuedWrite).plan;

/** @throws GroupFailed where the write is refused and does not stand alone */
async function settledAt(
  group: readonly QueuedWrite[],
  at: number,
  settle: () => Promise<WritePlan>,
  { changed }: EditedRecords,
): Promise<Settled> {
  const { plan, records } = group[at] as QueuedWrite;
  if (!hasEdits(plan)) return { plan };
  try {
    return { plan: await settle() };
  } catch (error) {
    const isAlone = plan.mutations.length === 1 && !records.some((record) => changed.has(record));
    // The record was read and refuses the edit: the transaction goes on.
    if (!isRefusal(error) || !isAlone) throw failedAt(group, at, error);
    return { error };
  }
}

/** The columns of a record that an update edits, as a name. */
const editKey = ({ className }: TableSchema, objectId: string, fields: readonly Field[]): string =>
  `${fields.map(({ column }) => column).join('\n')}\n${recordKey(className, objectId)}`;

/** Where the first writes of a group end whose edits may be read together: one at least. */
async function endOf(session: Session, group: readonly QueuedWrite[], dialect: Dialect): Promise<number> {
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

/** Asks for the bytes of what the edits of some writes read. @param bytes what is known of them, by `editKey`; the others are added */
async function measure(
  session: Session,
  group: readonly QueuedWrite[],
  bytes: Map<string, number>,
  dialect: Dialect,
): Promise<void> {
  const asked = new Map<string, { table: TableSchema; fields: readonly Field[]; ids: Set<string> }>();
  for (const { plan } of group)
    for (const update of editedUpdates(plan)) {
      const { table, objectId } = update;
      const fields = editedFields(update);
      if (bytes.has(editKey(table, objectId, fields))) continue;
      const key = editKey(table, '', fields);
      const together = asked.get(key) ?? { table, fields, ids: new Set<string>() };
      asked.set(key, together);
      together.ids.add(objectId);
    }
  const answers = [...asked.values()].map(async ({ table, fields, ids }) => {
    const { rows } = await session.query(compileBytes(table, fields, [...ids], dialect));
    for (const [objectId, size] of rows) bytes.set(editKey(table, objectId as string, fields), size as number);
  });
  await Promise.all(answers);
}
