import type { Schema } from '../../schema/model.ts';
import type { Mutation, WriteOutcome, WritePlan } from '../../storage/port.ts';
import type { RecordContext } from '../context.ts';
import type { WriteEvent } from './observer.ts';

/** A plan of a write, with the events that observers hear of: one for each record. */
export type RecordPlan = WritePlan & { readonly events: readonly WriteEvent[] };

/**
 * Carries a planned write out, with what its observers add to the same commit, and tells them when it is durable.
 * @param plan pure; called again where the schema changes before the write's turn comes
 */
export async function transact(context: RecordContext, plan: (schema: Schema) => RecordPlan): Promise<WriteOutcome> {
  const { observers } = context.hooks;
  let events: readonly WriteEvent[] = [];
  const outcome = await context.store.write({
    plan(schema) {
      const planned = plan(schema);
      events = planned.events;
      const added: Mutation[] = [];
      for (const event of events)
        for (const observer of observers) for (const step of observer.mutations?.(event, schema) ?? []) added.push(step);
      return added.length === 0 ? planned : { changes: planned.changes, mutations: [...planned.mutations, ...added] };
    },
  });
  for (const event of events) for (const observer of observers) observer.committed?.(event);
  return outcome;
}
