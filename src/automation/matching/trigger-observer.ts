import { actorId } from '../../access/index.ts';
import { newRowId } from '../../kernel/ids.ts';
import { memoByObject } from '../../kernel/memo.ts';
import { evaluateKnown } from '../../query/evaluate/index.ts';
import type { AddedSteps, RecordContext, WriteEvent, WriteObserver } from '../../records/index.ts';
import type { Field, Schema, TableSchema } from '../../schema/model.ts';
import { isHidden, secretFieldsOf } from '../../schema/system-tables.ts';
import { columnFields } from '../../storage/column-values.ts';
import type { Mutation, Snapshot } from '../../storage/port.ts';
import { boundedSnapshot, MAX_SNAPSHOT_VALUE_CHARS, snapshotLimits } from '../../storage/snapshot-limits.ts';
import type { StoredValue } from '../../values/index.ts';
import { criteriaOf } from '../definition/index.ts';
import { activeTriggers } from '../definition/trigger-cache.ts';
import { commitShare } from '../model/loop-share.ts';
import type { Trigger } from '../model/model.ts';
import { jobRow } from '../queue/index.ts';

/** Notified about writes that concern automation. */
export interface WriteListener {
  /** Jobs were queued in the context's store. */
  queued(context: RecordContext): void;
  /** The outcome of a write is unknown that queues jobs or changes a definition. */
  outcomeUnknown(context: RecordContext, schedules: boolean): void;
  /** A definition was written. */
  triggersChanged(context: RecordContext): void;
}

/** Forwards to a listener that is set after observing begins. Notifications before that are dropped; polling finds what was queued. */
export class WriteRelay implements WriteListener {
  #listener: WriteListener | undefined;

  passTo(listener: WriteListener): void {
    this.#listener = listener;
  }

  queued(context: RecordContext): void {
    this.#listener?.queued(context);
  }

  outcomeUnknown(context: RecordContext, schedules: boolean): void {
    this.#listener?.outcomeUnknown(context, schedules);
  }

  triggersChanged(context: RecordContext): void {
    this.#listener?.triggersChanged(context);
  }
}

/**
 * Queues the triggers of each write in the same commit. If the table has no active triggers, the cost is one map look-up.
 * Reference: triggers.md#order-and-delivery, adr/0012.
 * @param listener notified after the commit
 */
export function triggerObserver(listener: WriteListener): WriteObserver {
  const isDefinition = ({ table }: WriteEvent) => table.className === '_Trigger';
  const queues = ({ before, after }: AddedSteps) => before !== undefined || after !== undefined;
  return {
    ready: ({ store }) => (activeTriggers.isReady(store) ? undefined : activeTriggers.ready(store)),
    plan(event, schema, context) {
      const triggers = candidates(event, schema, context);
      if (triggers.length === 0) return {};
      if (event.event === 'delete') return { before: writeRow(event, triggers, schema, context, { takesSnapshot: true }) };
      // Rules of a table set values that the event does not contain.
      const takesSnapshot = event.event === 'update' || context.hooks.rules.has(event.table.className);
      if (event.event === 'create' || triggers.every(({ changedFields }) => changedFields.length === 0))
        return { after: writeRow(event, triggers, schema, context, { takesSnapshot }) };
      const before = newRowId(event.at);
      return {
        before: snapshotBefore(before, event, schema, context),
        after: writeRow(event, triggers, schema, context, { takesSnapshot, before }),
      };
    },
    committed(event, context, added) {
      if (isDefinition(event)) listener.triggersChanged(context);
      if (queues(added)) listener.queued(context);
    },
    inDoubt(event, context, added) {
      if (isDefinition(event) || queues(added)) listener.outcomeUnknown(context, isDefinition(event));
    },
  };
}

/** Returns the queue row that holds the record before an update. */
function snapshotBefore(objectId: string, event: WriteEvent, schema: Schema, context: RecordContext): readonly Mutation[] {
  const row = { objectId, createdAt: event.at, kind: 'before', ...aboutRecord(event), ...heldBy(context) };
  return jobRow(schema, row, snapshotOf(event));
}

const aboutRecord = ({ event, table, objectId }: WriteEvent) => ({
  event,
  objectClass: table.className,
  objectIdValue: objectId,
});

const heldBy = ({ store }: RecordContext) => ({ owner: store.cluster.processId });

/** @param options `takesSnapshot`: the commit reads the record's values; otherwise the event contains all of them */
function writeRow(
  event: WriteEvent,
  triggers: readonly Trigger[],
  schema: Schema,
  context: RecordContext,
  { takesSnapshot, before = null }: { takesSnapshot: boolean; before?: string | null },
): readonly Mutation[] {
  const { cause, flags, sent, table } = event;
  const relations = Object.keys(sent).filter((name) => isRelation(table, name));
  const silenced = [flags.createActions ? 'createActions' : '', flags.updateActions ? 'updateActions' : ''].filter(
    (flag) => flag,
  );
  const row = {
    objectId: newRowId(event.at),
    createdAt: event.at,
    kind: 'write',
    triggers: triggers.map(({ id }) => id).join(),
    ...aboutRecord(event),
    before,
    level: (cause?.level ?? 0) + 1,
    source: cause?.source ?? null,
    chain: cause?.chain ?? null,
    flags: silenced.length > 0 ? silenced.join() : null,
    relations: relations.length > 0 ? relations.join() : null,
    ...heldBy(context),
  };
  return takesSnapshot ? jobRow(schema, row, snapshotOf(event)) : jobRow(schema, { ...row, ...valuesOf(event) });
}

function snapshotOf({ table, objectId }: WriteEvent): Omit<Snapshot, 'to' | 'kind'> {
  return { from: table, objectId, fields: snapshotFields(table) };
}

/** The values of a created record, all of which the event contains. */
function valuesOf(event: WriteEvent): { fields: string; record: string } {
  const values = createdValues(event);
  return { fields: JSON.stringify([...values.keys()]), record: JSON.stringify([...values.values()]) };
}

const none: readonly Trigger[] = [];

/**
 * Returns the triggers that a write may fire; the runner decides. Triggers whose criteria a new record certainly does not meet are dropped here, so
 * that they cost nothing.
 */
export function candidates(event: WriteEvent, schema: Schema, context: RecordContext): readonly Trigger[] {
  const active = activeTriggers.of(context.store, event.table.className);
  if (active.length === 0 || event.flags.triggers || isHidden(event.table.className)) return none;
  return active.filter((trigger) => trigger.events.has(event.event) && mayFire(event, trigger, schema, context));
}

function mayFire(event: WriteEvent, trigger: Trigger, schema: Schema, context: RecordContext): boolean {
  if (trigger.author !== null && !isOpen(event)) return true;
  if (event.event === 'update') return writesChangedField(event, trigger);
  return event.event === 'delete' || trigger.criteria === null || mayMatch(event, trigger, schema, context);
}

/**
 * Returns whether all values of an event are visible to every reader of the table. If not, the runner must check the author's permissions first,
 * since the result of the criteria would reveal values.
 */
function isOpen({ event, table, assignments }: WriteEvent): boolean {
  const { protectedFields, readUserFields, get } = table.permissions;
  if (protectedFields !== undefined) return false;
  return event !== 'create' || (!assignments.has('ACL') && readUserFields === undefined && get?.pointerFields === undefined);
}

/** Fields that the service sets in each update. */
const setByUpdates: ReadonlySet<string> = new Set(['updatedAt', 'updatedBy']);

/** Whether an update writes one of the fields in `changedFields`. A field that no longer exists counts too, because the runner reports it. */
function writesChangedField({ assignments, sent, table }: WriteEvent, { changedFields }: Trigger): boolean {
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
 * Returns false if a new record certainly does not meet the criteria. Undecidable cases and errors are left to the runner, and so is any work beyond
 * the time share: a batch of records times the triggers of their table may be a million conditions.
 */
function mayMatch(event: WriteEvent, trigger: Trigger, schema: Schema, { hooks }: RecordContext): boolean {
  const { table } = event;
  if (hooks.rules.has(table.className) || schema.tables.get(table.className) !== table || commitShare.isSpent) return true;
  try {
    const matches = commitShare.spend(() => {
      const values = createdValues(event);
      return evaluateKnown(criteriaOf(trigger, table, schema), ({ name }) => values.get(name) ?? null);
    });
    return matches !== false;
  } catch {
    return true;
  }
}

/** Returns a table's fields that are part of snapshots: all columns without secrets. The same array as long as the table object is current. */
export const snapshotFields = memoByObject((table: TableSchema): readonly Field[] => {
  const secret = secretFieldsOf(table.className);
  return columnFields(table).filter(({ name }) => !secret.has(name));
});

/**
 * Returns the values of a created record that are present, by field name, with the size limits of any snapshot. Valid only if the table has no rules
 * that set other values.
 */
export function createdValues({ table, objectId, at, principal, assignments, known = {} }: WriteEvent): Map<string, StoredValue> {
  const secret = secretFieldsOf(table.className);
  const actor = actorId(principal);
  const values = new Map<string, StoredValue>([
    ['objectId', objectId],
    ['createdAt', at],
    ['updatedAt', at],
    ['createdBy', actor],
    ['updatedBy', actor],
    ...Object.entries(known),
  ]);
  for (const assignment of assignments.values()) {
    const { field, kind } = assignment;
    if (kind === 'set' && assignment.value !== null && !secret.has(field.name)) values.set(field.name, assignment.value);
  }
  return isShort(values) ? values : bounded(table, values);
}

/** Whether the values are within the limit together, and therefore each of them. */
function isShort(values: ReadonlyMap<string, StoredValue>): boolean {
  let length = 0;
  for (const value of values.values()) if (typeof value === 'string') length += value.length;
  return length <= MAX_SNAPSHOT_VALUE_CHARS;
}

function bounded(table: TableSchema, values: ReadonlyMap<string, StoredValue>): Map<string, StoredValue> {
  const fields = snapshotFields(table);
  const cut = boundedSnapshot(
    snapshotLimits(fields),
    fields.map(({ name }) => values.get(name) ?? null),
  );
  return new Map(fields.flatMap(({ name }, at) => (cut[at] === null ? [] : [[name, cut[at] as StoredValue] as const])));
}
