import type { ActionType } from '../model.ts';

/** The table in which the service notes what an action of a type did, where it does: who defines it has to be allowed to make rows there. */
export function writtenBy(type: ActionType): string | null {
  if (type === 'e-mail') return 'Emails';
  return type === 'notification' ? '_Notification' : null;
}
