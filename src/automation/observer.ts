import { newRowId } from '../kernel/row-id.ts';
import type { AddedSteps, RecordContext, WriteEvent, WriteObserver } from '../records/index.ts';
import type { Schema } from '../schema/model.ts';
import type { Mutation, Snapshot } from '../storage/port.ts';
import { activeTriggers } from './active.ts';
import { candidates, isRelation } from './candidates.ts';
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
      if (event.event === 'delete') return { before: writeRow(event, triggers, schema, context, { isPictured: true }) };
      // Rules of a table set values that its event does not tell of.
      const isPictured = event.event === 'update' || context.hooks.rules.has(event.table.className);
      if (event.event === 'create' || triggers.every(({ changedFields }) => changedFields.length === 0))
        return { after: writeRow(event, triggers, schema, context, { isPictured }) };
      const before = newRowId(event.at);
      return {
        before: pictureBefore(before, event, schema, context),
        after: writeRow(event, triggers, schema, context, { isPictured, before }),
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
function pictureBefore(objectId: string, event: WriteEvent, schema: Schema, context: RecordContext): readonly Mutation[] {
  const row = { objectId, createdAt: event.at, kind: 'before', ...aboutRecord(event), ...heldBy(context) };
  return jobRow(schema, row, pictureOf(event));
}

const aboutRecord = ({ event, table, objectId }: WriteEvent) => ({
  event,
  objectClass: table.className,
  objectIdValue: objectId,
});

const heldBy = ({ store }: RecordContext) => ({ owner: store.cluster.processId });

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

function pictureOf({ table, objectId }: WriteEvent): Omit<Snapshot, 'to' | 'kind'> {
  return { from: table, objectId, fields: picturedFields(table) };
}

/** The record of a create, of which the event tells all. */
function valuesOf(event: WriteEvent): { fields: string; record: string } {
  const values = createdValues(event);
  return { fields: JSON.stringify([...values.keys()]), record: JSON.stringify([...values.values()]) };
}
