import { newRowId } from '../audit/index.ts';
import type { RecordContext, WriteEvent, WriteObserver } from '../records/index.ts';
import type { Schema } from '../schema/model.ts';
import type { Mutation, Picture } from '../storage/port.ts';
import { activeTriggers } from './active.ts';
import { candidates, foundCandidates, isRelation } from './candidates.ts';
import type { Trigger } from './model.ts';
import { createdValues, picturedFields } from './picture.ts';
import { jobRow } from './queue/index.ts';

/** What the runner is told of writes. */
export interface WriteListener {
  /** Something was queued for the context's store. */
  queued(context: RecordContext): void;
  /** Nobody knows whether a write was carried out that queues something, or changes a definition. */
  doubted(context: RecordContext, schedules: boolean): void;
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
      const triggers = candidates(event, schema, context);
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
      const triggers = candidates(event, schema, context);
      if (triggers.length === 0) return none;
      // Rules of a table set values that its event does not tell of.
      const isPictured = event.event === 'update' || context.hooks.rules.has(event.table.className);
      return writeRow(event, triggers, schema, context, { isPictured, before: befores.get(event) ?? null });
    },
    committed(event, context) {
      if (event.table.className === '_Trigger') listener.triggersChanged(context);
      if (foundCandidates(event).length > 0) listener.queued(context);
    },
    doubted(event, context) {
      const isDefinition = event.table.className === '_Trigger';
      if (isDefinition || foundCandidates(event).length > 0) listener.doubted(context, isDefinition);
    },
  };
}

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
    chain: cause?.chain ?? null,
    flags: silenced.length > 0 ? silenced.join() : null,
    relations: relations.length > 0 ? relations.join() : null,
    ...heldBy(context),
  };
  return isPictured ? jobRow(schema, row, pictureOf(event)) : jobRow(schema, { ...row, ...valuesOf(event) });
}

function pictureOf({ table, objectId }: WriteEvent): Omit<Picture, 'to'> {
  return { from: table, objectId, fields: picturedFields(table) };
}

/** The record of a create, of which the event tells all. */
function valuesOf(event: WriteEvent): { fields: string; record: string } {
  const values = createdValues(event);
  return { fields: JSON.stringify([...values.keys()]), record: JSON.stringify([...values.values()]) };
}
