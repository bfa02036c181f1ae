import type { ActionRun } from './action.ts';

/** Notes that an action is done that has nothing else to write; durable when it resolves. */
export async function commitDone({ system, done }: Pick<ActionRun, 'system' | 'done'>): Promise<void> {
  await system.store.write({ plan: (schema) => ({ changes: [], mutations: done(schema) }) });
}
