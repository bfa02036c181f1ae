import type { Schema } from '../../schema/model.ts';
import type { WriteOutcome, WritePlan } from '../../storage/port.ts';
import type { RecordContext } from '../context.ts';
import type { WriteEvent } from './observer.ts';

/** A plan of one record's write, with the event that observers hear of. */
export type RecordPlan = WritePlan & { readonly event: WriteEvent };

/**
 * Carries a planned write out, with what its observers add to the same commit, and tells them when it is durable.
 * @param plan pure; called again where the schema changes before the write's turn comes
 */
export async function transact(context: RecordContext, plan: (schema: Schema) => RecordPlan): Promise<WriteOutcome> {
  let event: WriteEvent | undefined;
  const outcome = await context.store.write({
    plan(schema) {
      const planned = plan(schema);
      event = planned.event;
      if (context.hooks.observers.length === 0) return planned;
      const added = context.hooks.observers.flatMap((observer) => observer.mutations(planned.event, schema));
      return { changes: planned.changes, mutations: [...planned.mutations, ...added] };
    },
  });
  if (event) for (const observer of context.hooks.observers) observer.committed(event);
  return outcome;
}
