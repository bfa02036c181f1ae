import { evaluate } from '../query/evaluate/index.ts';
import type { RecordContext, WriteEvent } from '../records/index.ts';
import type { Schema, TableSchema } from '../schema/model.ts';
import { isHidden } from '../schema/system-tables.ts';
import { activeTriggers } from './active.ts';
import { criteriaOf } from './definition/index.ts';
import { beforeCommits } from './loop-share.ts';
import type { Trigger } from './model.ts';
import { createdValues } from './picture.ts';

const none: readonly Trigger[] = [];

/**
 * The triggers that a write may fire: whether they do is for the runner to find out. Those whose criteria a record that is made does not meet,
 * which is known already, are left out, so that they cost nothing.
 */
export function candidates(event: WriteEvent, schema: Schema, context: RecordContext): readonly Trigger[] {
  const active = activeTriggers.of(context.store, event.table.className);
  if (active.length === 0 || event.flags.triggers || isHidden(event.table.className)) return none;
  return active.filter((trigger) => trigger.events.has(event.event) && mayFire(event, trigger, schema, context));
}

function mayFire(event: WriteEvent, trigger: Trigger, schema: Schema, context: RecordContext): boolean {
  if (trigger.author !== null && !isOpen(event)) return true;
  if (event.event === 'update') return touches(event, trigger);
  return event.event === 'delete' || trigger.criteria === null || mayMatch(event, trigger, schema, context);
}

/**
 * Whether all that a write tells is told to everybody who may read the table. Where it is not, it is for the runner to say whether the author
 * of a trigger may know: whether his criteria hold would tell him else.
 */
function isOpen({ event, table, assignments }: WriteEvent): boolean {
  const { protectedFields, readUserFields, get } = table.permissions;
  if (protectedFields !== undefined) return false;
  return event !== 'create' || (!assignments.has('ACL') && readUserFields === undefined && get?.pointerFields === undefined);
}

/** Fields that the service sets with each update. */
const setByUpdates: ReadonlySet<string> = new Set(['updatedAt', 'updatedBy']);

/** Whether an update writes to one of the fields whose change fires a trigger, or the table has one of them no more: the runner tells of that. */
function touches({ assignments, sent, table }: WriteEvent, { changedFields }: Trigger): boolean {
  if (changedFields.length === 0) return true;
  return changedFields.some(
    (name) =>
      setByUpdates.has(name) ||
      assignments.has(name) ||
      !table.fields.has(name) ||
      (isRelation(table, name) && Object.hasOwn(sent, name)),
  );
}

export const isRelation = (table: TableSchema, name: string): boolean => table.fields.get(name)?.type === 'Relation';

/**
 * False where a record that is made does not meet the criteria for certain. What cannot be told here, errors too, is the runner's, and so is what
 * would hold the event loop up: the records of a batch, by the triggers of their table, may be a million conditions.
 */
function mayMatch(event: WriteEvent, trigger: Trigger, schema: Schema, { hooks }: RecordContext): boolean {
  const { table } = event;
  if (hooks.rules.has(table.className) || schema.tables.get(table.className) !== table || beforeCommits.isSpent) return true;
  try {
    const matches = beforeCommits.spend(() => {
      const values = createdValues(event);
      return evaluate(
        criteriaOf(trigger, table, schema),
        ({ name }) => values.get(name) ?? null,
        async () => true,
      );
    });
    return matches !== false;
  } catch {
    return true;
  }
}
