import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isoText } from '../../kernel/time.ts';
import { createRecord } from '../../records/index.ts';
import { causeField } from '../../schema/system-tables.ts';
import { wireDate, wirePointer } from '../../values/json/wire.ts';
import { pointerOf } from '../../values/types/pointer.ts';
import type { ActionDraft, Perform } from '../model/action.ts';
import { ActionFailed, asService } from '../model/action.ts';
import { withSources } from '../model/sources.ts';
import { type Filler, fillerFor } from '../templates/template.ts';
import { pointerField } from './pointer-field.ts';

const table = '_Notification';

/**
 * Adds a row to `_Notification` for a user.
 * Reference: triggers.md#notification.
 * @throws ActionFailed if there is no user to notify; classMissing (103); errors of templates and creates
 */
export const notification: Perform<'notification'> = async (run) => {
  const { store } = run.system;
  if (!store.schema().tables.has(table)) fail('classMissing', table);
  const filler = fillerFor(run);
  const { content, icon } = run.action.data;
  const userId = await userIdOf(run, filler);
  if (userId === null) throw new ActionFailed('There is no user to be notified.');
  const body: JsonObject = {
    User: wirePointer('_User', userId),
    Content: await filler.text(content),
    Date: wireDate(isoText(Date.now())),
    objectClass: run.record.className,
    objectIdValue: run.record.objectId,
    [causeField]: run.trigger.id,
  };
  if (icon !== null) body.Icon = await filler.text(icon);
  await createRecord(await withSources(asService(run.context, table), table, run.sources), table, body);
};

/**
 * Returns the id of the user to notify; `null` if there is none. The name of a Pointer field takes precedence over an id. @throws errors of templates
 */
export async function userIdOf(run: ActionDraft<'notification'>, filler: Filler): Promise<string | null> {
  const { user, isPointer } = run.action.data;
  if (isPointer) return (await filler.text(user)) || null;
  const field = pointerField(run, user);
  if (field) await run.sources?.add(run.system.store, run.record.className, run.record.fields, user);
  const value = field === undefined ? ((await filler.value(user)) ?? null) : null;
  if (typeof value === 'string') return value === '' ? null : value;
  const named = field ?? pointerOf(value);
  return named?.className === '_User' ? named.objectId : null;
}
