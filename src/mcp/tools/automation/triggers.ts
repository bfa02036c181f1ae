import { createRow, updateRow } from '../../../crm/commands/records.ts';
import { findRows, getRow, type Row, tableNamed } from '../../../crm/queries/records.ts';
import { accessErrors, badArguments, unless } from '../../../crm/refusals.ts';
import { withShortTexts } from '../../../crm/wire/short-text.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { definitionFields } from '../../../records/index.ts';
import { flag, MAX_ROWS, object, objects, recordId, table, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { pageOf } from '../../results/page.ts';

/** Reference: tools.md#get-triggers. */
export const getTriggers = defineTool({
  name: 'Get-Triggers',
  group: 'automation',
  description: 'Automation triggers: event, criteria, actions.',
  input: { className: table().optional(), activeOnly: flag().optional() },
  needs: ['mcp:view'],
  effect: 'read',
  about: '_Trigger',
  async run(call, { className, activeOnly }) {
    const where = {
      ...(className !== undefined && { table: className }),
      ...(activeOnly === true && { Active: { $ne: false } }),
    };
    const rows = await findRows(call, '_Trigger', { where, keys: definitionKeys, limit: MAX_ROWS });
    // A deleted table may still have triggers, so its name is checked only if there are none.
    if (rows.length === 0 && className !== undefined) tableNamed(call, className);
    const definitions = rows.map(definitionOf);
    const whole = pageOf(definitions, { limit: MAX_ROWS });
    if (whole.truncated !== true) return whole;
    const { results, truncated } = pageOf(
      definitions.map((definition) => withShortTexts(definition)),
      { limit: MAX_ROWS },
    );
    const hint = 'Long texts are cut: name the className, or read one by its _id with Get-Data on _Trigger.';
    return { results, ...(truncated !== undefined && { truncated }), hint };
  },
});

/** The rules of `_Trigger` check the definition. Reference: tools.md#set-trigger, triggers.md#definition. */
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
    const trigger = await unless(accessErrors, null, async () => definitionOf(await getRow(call, '_Trigger', objectId)));
    return { triggerId: objectId, ...(trigger && { active: trigger.Active ?? null, ...shownOf(trigger) }) };
  },
});

/** Returns the parts that the service chose. */
function shownOf({ nextRun, actions }: JsonObject): JsonObject {
  const ids = Array.isArray(actions) ? actions.map((action) => (action as JsonObject)._id ?? null) : [];
  return { ...(nextRun !== undefined && nextRun !== null && { nextRun }), actionIds: ids };
}

/** Fields of a trigger as schema reads return them. Reference: schemas.md#schema-record. */
export const definitionKeys = definitionFields.filter((name) => name !== 'objectId');

/** Returns a row of `_Trigger` in the form of schema reads. */
export function definitionOf(row: Row): JsonObject {
  const parts = definitionKeys.filter((name) => Object.hasOwn(row, name)).map((name) => [name, row[name] ?? null] as const);
  return { _id: row.objectId, ...Object.fromEntries(parts) };
}

const FORM = 'event is create, update, delete, several of them with commas, or "schedule <cron> [time zone]"';

/** Number of fields of a cron expression that includes seconds. */
const MAX_CRON_FIELDS = 6;

/**
 * Parses the argument `event`: `create,update`, or `schedule 0 8 * * 1-5 Asia/Jerusalem`; `schedule` alone keeps the present schedule.
 * @throws invalidArguments (107)
 */
export function eventOf(text: string): JsonObject {
  const [first = '', ...rest] = text.trim().split(/\s+/);
  if (first.replace(/:$/, '').toLowerCase() === 'schedule') return scheduled(rest);
  const events = text.split(',').map((event) => event.trim());
  const wrong = events.find((event) => !['create', 'update', 'delete'].includes(event));
  if (wrong !== undefined) badArguments(`event ${wrong.slice(0, 100) || 'is empty'}`, { expected: FORM });
  return { events: [...new Set(events)], schedule: null };
}

function scheduled(words: readonly string[]): JsonObject {
  if (words.length === 0) return { events: ['schedule'] };
  const last = words.at(-1) ?? '';
  const hasZone = words.length > MAX_CRON_FIELDS || /^[A-Za-z][\w+-]*\/[A-Za-z]|^UTC$/.test(last);
  const cron = (hasZone ? words.slice(0, -1) : words).join(' ');
  return { events: ['schedule'], schedule: { cron, ...(hasZone && { timezone: last }) } };
}
