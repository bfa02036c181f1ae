import { Turns } from '../../../kernel/turns.ts';
import type { ToolCall } from '../../definition/tool.ts';

/** By store. */
const turns = new WeakMap<object, Turns>();

/**
 * Does works of a system one after the other in this process: those that read, decide and then write, and would else decide by what the
 * other is about to change.
 * @param what they are about: works of different things do not wait for each other
 */
export function inTurn<T>({ context }: ToolCall, what: string, work: () => Promise<T>): Promise<T> {
  const { store } = context;
  const ofStore = turns.get(store) ?? new Turns();
  turns.set(store, ofStore);
  return ofStore.take(what, work);
}
