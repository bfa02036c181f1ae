import type { ActionRun, ActionServices, Perform } from '../model/action.ts';
import type { ActionType } from '../model/model.ts';
import { email } from './e-mail.ts';
import { notification } from './notification.ts';
import { serverSideCode } from './server-side-code.ts';
import { createObject, updateObject } from './write-object.ts';

const performers: { readonly [Type in ActionType]: Perform<Type> } = {
  'create-object': createObject,
  'update-object': updateObject,
  'e-mail': email,
  notification,
  'server-side-code': serverSideCode,
};
const byType = new Map<string, (run: never, services: ActionServices) => Promise<void>>(Object.entries(performers));

/**
 * Executes an action. When it resolves, the commit with `run.done` is durable, or nothing had to be committed.
 * @throws an error of the catalogue or ActionFailed if the action cannot be done; any other error is a fault
 */
export async function perform(run: ActionRun, services: ActionServices): Promise<void> {
  const action = byType.get(run.action.type);
  if (!action) throw new Error(`no action is of the type ${run.action.type}`);
  // The run has the type of its action, by which the performer was selected.
  await action(run as never, services);
}
