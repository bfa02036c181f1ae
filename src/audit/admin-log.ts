import { type Actor, insertAct, newAct, whoOf } from '../acts/index.ts';
import type { RecordContext, RecordWatch, WriteObserver } from '../records/index.ts';
import { actOf, fieldsToRead, isAdministered } from './administered-records.ts';
import { schemaActs } from './administered-schema.ts';

/** Returns who acts in a context, and for which request. */
export function actorOf({ who, principal, actor = principal, requestId }: RecordContext): Actor {
  return { who: who ?? whoOf(actor), requestId };
}

/** Reads users, roles, flags and triggers before they are written: the log says what changed. */
export const adminWatch: RecordWatch = { fieldsFor: fieldsToRead, watches: isAdministered };

/**
 * Keeps the log of administrators: each write of a user, a role, a flag or a trigger, and each change of a schema, adds a row to `_AdminLog` in the
 * same commit. Reference: audit.md#log-of-administrators.
 */
export const adminObserver: WriteObserver = {
  plan(event, schema, context) {
    const act = event.seen ? actOf(event) : null;
    return act ? { after: insertAct(schema, newAct(act, actorOf(context), event.at)) } : {};
  },

  planChanges(changes, schema, context) {
    const at = Date.now();
    return schemaActs(changes, schema).flatMap((act) => insertAct(schema, newAct(act, actorOf(context), at)));
  },
};
