import { isInDoubt, isUnavailable } from '../../errors/fail.ts';
import type { Schema } from '../../schema/model.ts';
import type { Condition, Mutation, WriteOutcome, WritePlan } from '../../storage/port.ts';
import { refuseLarge } from '../../storage/record-size.ts';
import type { RecordContext } from '../context.ts';
import type { WriteEvent, WriteObserver } from './observer.ts';

/** A plan of a write, with the events that observers hear of: one for each record. */
export type RecordPlan = WritePlan & { readonly events: readonly WriteEvent[] };

/**
 * Carries a planned write out, with what its observers add to the same commit, and tells them when it is durable. At once where the observers
 * are, so that writes keep the order in which they came.
 * @param plan pure; called again where the schema changes before the write's turn comes
 * @throws Overtaken where a condition of the context does not hold; what the plan and its steps throw
 */
export function transact(context: RecordContext, plan: (schema: Schema) => RecordPlan): Promise<WriteOutcome> {
  const waits = context.hooks.observers.map((observer) => observer.ready?.(context)).filter((wait) => wait !== undefined);
  return waits.length === 0 ? carryOut(context, plan) : Promise.all(waits).then(() => carryOut(context, plan));
}

async function carryOut(context: RecordContext, plan: (schema: Schema) => RecordPlan): Promise<WriteOutcome> {
  const { observers } = context.hooks;
  let events: readonly WriteEvent[] = [];
  const write = context.store.write({
    plan(schema) {
      const planned = plan(schema);
      events = planned.events;
      const added = (when: 'before' | 'mutations') => stepsOf(observers, when, planned.events, schema, context);
      const [before, after] = [added('before'), added('mutations')];
      const last = context.alongside?.(schema) ?? none;
      const conditions = conditionsOf(context, schema);
      for (const steps of [before, planned.mutations, after, last]) refuseLarge(steps);
      if (before.length + after.length + last.length + conditions.length === 0) return planned;
      return { conditions, changes: planned.changes, mutations: [...before, ...planned.mutations, ...after, ...last] };
    },
  });
  const tell = (what: 'committed' | 'doubted') => {
    for (const event of events) for (const observer of observers) observer[what]?.(event, context);
  };
  try {
    const outcome = await write;
    if (context.progress) context.progress.hasWritten = true;
    tell('committed');
    return outcome;
  } catch (error) {
    if (isUnavailable(error) || isInDoubt(error)) tell('doubted');
    throw error;
  }
}

const none: readonly never[] = [];

function conditionsOf({ conditions, held }: RecordContext, schema: Schema): readonly Condition[] {
  const own = conditions?.(schema) ?? none;
  return held ? [{ kind: 'unchanged', ...held }, ...own] : own;
}

function stepsOf(
  observers: readonly WriteObserver[],
  when: 'before' | 'mutations',
  events: readonly WriteEvent[],
  schema: Schema,
  context: RecordContext,
): readonly Mutation[] {
  let steps: Mutation[] | undefined;
  for (const event of events)
    for (const observer of observers) {
      const added = observer[when]?.(event, schema, context) ?? none;
      for (const step of added) {
        steps ??= [];
        steps.push(step);
      }
    }
  return steps ?? none;
}
