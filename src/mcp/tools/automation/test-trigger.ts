import { type ActionPreview, previewTrigger, type TriggerPreview } from '../../../automation/index.ts';
import { getRow } from '../../../crm/queries/records.ts';
import { listedBy } from '../../../crm/refusals.ts';
import { withShortTexts } from '../../../crm/wire/short-text.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { objectId as anyId, recordId } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';

/** Previews what a trigger would do, without doing it. Reference: tools.md#test-trigger. */
export const testTrigger = defineTool({
  name: 'Test-Trigger',
  group: 'automation',
  description: 'Say whether a trigger would fire on a record and what each action would do, without running it.',
  input: { triggerId: recordId(), objectId: anyId() },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'read',
  about: '_Trigger',
  async run(call, { triggerId, objectId }) {
    // A missing record suggests Get-Data; a missing trigger suggests Get-Triggers.
    await listedBy('Get-Triggers', () => getRow(call, '_Trigger', triggerId, { keys: ['objectId'] }));
    const preview = await previewTrigger(call, triggerId, objectId, (does) => withShortTexts(does) as JsonObject);
    const { trigger, meetsCriteria, error, obstacle } = preview;
    return {
      triggerId,
      ...(trigger.name !== null && { name: trigger.name }),
      table: trigger.table,
      objectId,
      wouldFire: trigger.isActive && meetsCriteria === true && obstacle === null,
      active: trigger.isActive,
      meetsCriteria,
      ...(error !== null && { error }),
      ...(obstacle !== null && { obstacle }),
      events: [...trigger.events],
      ...(trigger.changedFields.length > 0 && { changedFields: [...trigger.changedFields] }),
      actions: preview.actions.map(actionOf),
      notes: [...notesOn(preview), ...(call.system.isHeld ? [heldNote] : [])],
    };
  },
});

function actionOf({ id, type, isActive, does, error }: ActionPreview): JsonObject {
  return {
    _id: id,
    type,
    active: isActive,
    ...(does && { does }),
    ...(error !== null && { wouldFail: withShortTexts(error) }),
  };
}

const heldNote = 'The system is held: what fires is queued, and carried out once an operator has it resumed.';

/** Returns notes about what only a real write can show. */
function notesOn({ trigger: { author, changedFields, events, isActive } }: TriggerPreview): string[] {
  const sees = author === null ? 'sees all' : 'acts with the rights of the user who defined it';
  const notes = [
    `Nothing was written, sent or called. Criteria and templates are read with what you may see; the trigger itself ${sees}.`,
  ];
  if (!isActive && events.size === 0)
    notes.push('The definition cannot be read, so that it never runs: write it anew with Set-Trigger.');
  if (changedFields.length > 0 && events.has('update'))
    notes.push(
      `An update fires it only where it changes one of ${changedFields.join(', ')}, which only the update itself can tell.`,
    );
  return notes;
}
