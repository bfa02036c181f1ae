import type { JsonObject } from '../../../kernel/json.ts';
import { flag, object, objects, recordId, table, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { badArguments, unless, unseen } from '../../kit/answers/refusals.ts';
import { getRow } from '../../kit/reading/records.ts';
import { definitionOf } from '../../kit/triggers/definitions.ts';
import { eventOf } from '../../kit/triggers/event.ts';
import { createRow, updateRow } from '../../kit/writing/records.ts';

/** SPEC "Agent-tool layer (MCP)", "Events" 1: `active` alone is the switch; the rules of `_Trigger` check the rest. */
export const setTrigger = defineTool({
  name: 'Set-Trigger',
  group: 'automation',
  description:
    'Switch a trigger on or off, or create or replace its definition (parts not sent stay). event: create|update|delete|"schedule <cron> [zone]"; actions: {type, actionData}.',
  input: {
    triggerId: recordId().optional(),
    className: table().optional(),
    name: text(1_000).optional(),
    active: flag().optional(),
    event: text(1_000).optional(),
    criteria: object().optional(),
    actions: objects(100, 0).optional(),
  },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'change',
  about: '_Trigger',
  listedBy: 'Get-Triggers',
  async run(call, { triggerId, className, name, active, event, criteria, actions }) {
    const data: JsonObject = {
      ...(className !== undefined && { table: className }),
      ...(name !== undefined && { Name: name }),
      ...(active !== undefined && { Active: active }),
      ...(event !== undefined && eventOf(event)),
      ...(criteria !== undefined && { criteria }),
      ...(actions !== undefined && { actions }),
    };
    if (triggerId !== undefined && Object.keys(data).length === 0) badArguments('nothing is to be changed');
    if (triggerId === undefined && (className === undefined || event === undefined || actions === undefined))
      badArguments('a new trigger needs className, event and actions; triggerId names one that is there', {
        next: 'Get-Triggers',
      });
    const { objectId } =
      triggerId === undefined ? await createRow(call, '_Trigger', data) : await updateRow(call, '_Trigger', triggerId, data);
    const trigger = await unless(unseen, null, async () => definitionOf(await getRow(call, '_Trigger', objectId)));
    return { triggerId: objectId, ...(trigger && { active: trigger.Active ?? null, ...shownOf(trigger) }) };
  },
});

/** What was chosen by the service. */
function shownOf({ nextRun, actions }: JsonObject): JsonObject {
  const ids = Array.isArray(actions) ? actions.map((action) => (action as JsonObject)._id ?? null) : [];
  return { ...(nextRun !== undefined && nextRun !== null && { nextRun }), actionIds: ids };
}
