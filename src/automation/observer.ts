import { actorId } from '../access/index.ts';
import { newRowId } from '../audit/index.ts';
import type { RecordContext, WriteEvent, WriteObserver } from '../records/index.ts';
import type { Field, Schema, TableSchema } from '../schema/model.ts';
import { isHidden, secretFieldsOf } from '../schema/system-tables.ts';
import { columnFields } from '../storage/columns.ts';
import type { Mutation } from '../storage/port.ts';
import type { StoredValue } from '../values/index.ts';
import { activeTriggers } from './active.ts';
import type { Trigger } from './model.ts';
import { jobRow } from './queue/index.ts';

/** What the runner is told of writes. */
export interface WriteListener {
  /** Something was queued for the context's store. */
  queued(context: RecordContext): void;
  /** A definition was written. */
  triggersChanged(context: RecordContext): void;
}

const none: readonly Mutation[] = [];

/**
 * Queues the triggers of each write in the write's own commit (SPEC "Events" 2; CONTRACT "Triggers"; docs/adr/0012). A table without
 * active triggers costs a look into a map.
 * @param listener is told after the commit
 */
export function triggerObserver(listener: WriteListener): WriteObserver {
  /** By event: the row of the queue that holds the picture before. */
  const befores = new WeakMap<WriteEvent, string>();
  return {
    ready: ({ store }) => activeTriggers.ready(store),
    before(event, schema, context) {
      if (event.event === 'create') return none;
      const triggers = candidates(event, context);
      if (triggers.length === 0) return none;
      if (event.event === 'delete') return writeRow(event, triggers, schema, context, { isPictured: true });
      if (triggers.every(({ changedFields }) => changedFields.length === 0)) return none;
      const id = newRowId(event.at);
      befores.set(event, id);
      return jobRow(
        schema,
        { objectId: id, createdAt: event.at, kind: 'before', ...aboutRecord(event), ...heldBy(context) },
        pictureOf(event),
      );
    },
    mutations(event, schema, context) {
      if (event.event === 'delete') return none;
      const triggers = candidates(event, context);
      if (triggers.length === 0) return none;
      // Rules of a table set values that its event does not tell of.
      const isPictured = event.event === 'update' || context.hooks.rules.has(event.table.className);
      return writeRow(event, triggers, schema, context, { isPictured, before: befores.get(event) ?? null });
    },
    committed(event, context) {
      if (event.table.className === '_Trigger') listener.triggersChanged(context);
      if (candidates(event, context).length > 0) listener.queued(context);
    },
  };
}

/** The triggers that a write may fire: whether they do is for the runner to find out. */
function candidates(event: WriteEvent, { store }: RecordContext): readonly Trigger[] {
  const { className } = event.table;
  const triggers = activeTriggers.of(store, className);
  if (triggers.length === 0 || event.flags.triggers || isHidden(className)) return [];
  return triggers.filter((trigger) => trigger.events.has(event.event) && (event.event !== 'update' || touches(event, trigger)));
}

/** Whether an update writes to one of the fields whose change fires a trigger. */
function touches({ assignments, sent, table }: WriteEvent, { changedFields }: Trigger): boolean {
  if (changedFields.length === 0) return true;
  return changedFields.some((name) => assignments.has(name) || (isRelation(table, name) && Object.hasOwn(sent, name)));
}

const isRelation = (table: TableSchema, name: string): boolean => table.fields.get(name)?.type === 'Relation';

const aboutRecord = ({ event, table, objectId }: WriteEvent) => ({
  event,
  objectClass: table.className,
  objectIdValue: objectId,
});

const heldBy = ({ store }: RecordContext) => ({ owner: store.processId });

/** @param how `isPictured`: the record's values are taken in the commit; else the event has them all */
function writeRow(
  event: WriteEvent,
  triggers: readonly Trigger[],
  schema: Schema,
  context: RecordContext,
  { isPictured, before = null }: { isPictured: boolean; before?: string | null },
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
    flags: silenced.length > 0 ? silenced.join() : null,
    relations: relations.length > 0 ? relations.join() : null,
    ...heldBy(context),
  };
  return isPictured ? jobRow(schema, row, pictureOf(event)) : jobRow(schema, { ...row, ...valuesOf(event) });
}

/** A table's fields that are in a picture, and their names as JSON. */
interface Pictured {
  readonly fields: readonly Field[];
  readonly names: string;
}

const known = new WeakMap<TableSchema, Pictured>();

function pictureOf({ table, objectId }: WriteEvent) {
  let pictured = known.get(table);
  if (!pictured) {
    const secret = secretFieldsOf(table.className);
    const fields = columnFields(table).filter(({ name }) => !secret.has(name));
    pictured = { fields, names: JSON.stringify(fields.map(({ name }) => name)) };
    known.set(table, pictured);
  }
  return { from: table, objectId, ...pictured };
}

/** The record of a create, of which the event tells all. */
function valuesOf({ table, objectId, at, principal, assignments }: WriteEvent): { fields: string; record: string } {
  const secret = secretFieldsOf(table.className);
  const actor = actorId(principal);
  const names = ['objectId', 'createdAt', 'updatedAt', 'createdBy', 'updatedBy'];
  const values: StoredValue[] = [objectId, at, at, actor, actor];
  for (const assignment of assignments.values()) {
    const { field, kind } = assignment;
    if (kind !== 'set' || assignment.value === null || secret.has(field.name)) continue;
    names.push(field.name);
    values.push(assignment.value);
  }
  return { fields: JSON.stringify(names), record: JSON.stringify(values) };
}
