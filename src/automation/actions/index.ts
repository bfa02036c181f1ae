import type { ActionParts, ActionRun, Perform } from '../model/action.ts';
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
const byType = new Map<string, (run: never, parts: ActionParts) => Promise<void>>(Object.entries(performers));

/**
 * Does an action; when it resolves, the commit with `run.done` is durable, or there was none to be made.
 * @throws an error of the catalogue or ActionFailed where it cannot be done; another one is a fault
 */
export async function perform(run: ActionRun, parts: ActionParts): Promise<void> {
  const action = byType.get(run.action.type);
  if (!action) throw new Error(`no action is of the type ${run.action.type}`);
  // The type of the run is that of its action, by which it was looked up.
  await action(run as never, parts);
}
