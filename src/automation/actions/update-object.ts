import { fail } from '../../errors/fail.ts';
import { updateRecord } from '../../records/index.ts';
import { notingSources } from '../sources.ts';
import type { ActionDraft, Perform } from './action.ts';
import { commitDone } from './action.ts';
import { filledFields } from './filled-fields.ts';
import { type NamedRecord, pointerField } from './pointer-field.ts';

/**
 * Changes the triggering record, or the one that a Pointer of it names (CONTRACT "Triggers": `update-object`). Where all values are absent
 * nothing is written.
 * @throws objectNotFound (101) where the record is gone, badPointer (106) where the Pointer is empty; what templates and updates throw
 */
export const updateObject: Perform<'update-object'> = async (run) => {
  const { className, objectId } = targetOf(run);
  const body = await filledFields(run, run.action.data.fields, run.system.store.schema().tables.get(className));
  if (Object.keys(body).length === 0) {
    await commitDone(run);
    return;
  }
  await run.sources.addOf(run.system.store, className, objectId);
  await updateRecord(await notingSources(run.context, className, run.sources), className, objectId, body);
};

/** The record that is changed. @throws objectNotFound (101), badPointer (106) where there is none */
export function targetOf(run: ActionDraft<'update-object'>): NamedRecord {
  const { target } = run.action.data;
  if (target === 'self') return run.event === 'delete' ? fail('objectNotFound') : run.record;
  return pointerField(run, target) ?? fail('badPointer', `${target} is empty`);
}
