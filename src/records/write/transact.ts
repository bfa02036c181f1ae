import type { Schema } from '../../schema/model.ts';
import type { WriteOutcome, WritePlan } from '../../storage/port.ts';
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
      if (observers.length === 0) return planned;
      const added = events.flatMap((event) => observers.flatMap((observer) => observer.mutations(event, schema)));
      return { changes: planned.changes, mutations: [...planned.mutations, ...added] };
    },
  });
  for (const event of events) for (const observer of observers) observer.committed(event);
  return outcome;
}
