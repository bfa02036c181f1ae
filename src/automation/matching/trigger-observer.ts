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
import { beforeCommits } from '../model/loop-share.ts';
import type { Trigger } from '../model/model.ts';
import { jobRow } from '../queue/index.ts';

/** What the runner is told of writes. */
export interface WriteListener {
  /** Something was queued for the context's store. */
  queued(context: RecordContext): void;
  /** Nobody knows whether a write was carried out that queues something, or changes a definition. */
  doubted(context: RecordContext, schedules: boolean): void;
  /** A definition was written. */
  triggersChanged(context: RecordContext): void;
}

/** Passes on to one who begins to listen after writes are observed; until then nobody is told, and what was queued is found later. */
export class WriteRelay implements WriteListener {
  #listener: WriteListener | undefined;

  passTo(listener: WriteListener): void {
    this.#listener = listener;
  }

  queued(context: RecordContext): void {
    this.#listener?.queued(context);
  }

  doubted(context: RecordContext, schedules: boolean): void {
    this.#listener?.doubted(context, schedules);
  }

  triggersChanged(context: RecordContext): void {
    this.#listener?.triggersChanged(context);
  }
}

/**
 * Queues the triggers of each write in the write's own commit (SPEC "Events" 2; CONTRACT "Triggers"; docs/adr/0012). A table without
 * active triggers costs a look into a map.
 * @param listener is told after the commit
 */
export function triggerObserver(listener: WriteListener): WriteObserver {
  const isDefinition = ({ table }: WriteEvent) => table.className === '_Trigger';
  const queues = ({ before, after }: AddedSteps) => before !== undefined || after !== undefined;
  return {
    ready: ({ store }) => activeTriggers.ready(store),
    plan(event, schema, context) {
      const triggers = candidates(event, schema, context);
      if (triggers.length === 0) return {};
      if (event.event === 'delete') return { before: writeRow(event, triggers, schema, context, { takesSnapshot: true }) };
      // Rules of a table set values that its event does not tell of.
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
      if (isDefinition(event) || queues(added)) listener.doubted(context, isDefinition(event));
    },
  };
}

/** The row of the queue that holds the record as it was before an update. */
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

/** @param how `takesSnapshot`: the record's values are taken in the commit; else the event has them all */
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

/** The record of a create, of which the event tells all. */
function valuesOf(event: WriteEvent): { fields: string; record: string } {
  const values = createdValues(event);
  return { fields: JSON.stringify([...values.keys()]), record: JSON.stringify([...values.values()]) };
}

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
      return evaluateKnown(criteriaOf(trigger, table, schema), ({ name }) => values.get(name) ?? null);
    });
    return matches !== false;
  } catch {
    return true;
  }
}

/** A table's fields that are in a snapshot of its records, secrets left out: one list for as long as the table stays. */
export const snapshotFields = memoByObject((table: TableSchema): readonly Field[] => {
  const secret = secretFieldsOf(table.className);
  return columnFields(table).filter(({ name }) => !secret.has(name));
});

/**
 * The values of a record that a create makes, by field, those that are there, bounded as in any snapshot: its event tells all, unless the rules
 * of its table set others.
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

/** Whether no value is too long, and all of them together are not. */
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
