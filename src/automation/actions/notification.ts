import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isoText } from '../../kernel/time.ts';
import { createRecord } from '../../records/index.ts';
import { causeField } from '../../schema/system-tables.ts';
import { wireDate, wirePointer } from '../../values/json/wire.ts';
import { pointerOf } from '../../values/types/pointer.ts';
import type { ActionDraft, Perform } from '../model/action.ts';
import { ActionFailed, asService } from '../model/action.ts';
import { notingSources } from '../model/sources.ts';
import { type Filler, fillerFor } from '../templates/template.ts';
import { pointerField } from './pointer-field.ts';

const table = '_Notification';

/**
 * Leaves a user a row of `_Notification` (CONTRACT "Triggers": `notification`; SPEC "Other system tables").
 * @throws ActionFailed where it is for nobody; classMissing (103); what templates and creates throw
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
  await createRecord(await notingSources(asService(run.context, table), table, run.sources), table, body);
};

/** Who is notified: a name of a Pointer field counts before an id. `null` where neither says who. @throws what templates throw */
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
