import type { Advice } from './advice.ts';

const ACTIONS =
  'actions: [{type, actionData}]; by type actionData is create-object {table, fields}; update-object {target: "self" or a Pointer field, fields}; e-mail {to, cc?, bcc?, subject, html}; notification {user: id or Pointer field, content, icon?}; server-side-code {functionName, useQueue}; texts may hold {{Field}}';
const EVENTS = 'Events are create, update, delete, schedule';
const SCHEDULE =
  'event: "schedule <cron> [time zone]"; a cron has 5 fields (6 with seconds), such as "schedule 0 8 * * 1-5 Asia/Jerusalem"';
const CRITERIA = 'criteria are a where on the fields of the table, such as {"City":"Haifa"}';
const FIELDS = 'changedFields: names of fields of the table';

/** By what a refusal begins with (CONTRACT "Triggers"). */
const forms: readonly (readonly [place: RegExp, form: string])[] = [
  [/^(two )?actions/, ACTIONS],
  [/^events/, EVENTS],
  [/^schedule/, SCHEDULE],
  [/^criteria/, CRITERIA],
  [/^changedFields/, FIELDS],
];

/** The form of the part of a definition that a message of `invalidTrigger` tells of; of another part all of them. */
export function triggerAdvice(message: string): Advice {
  const why = message.replace(/^Invalid trigger: /, '');
  const form = forms.find(([place]) => place.test(why))?.[1];
  return { expected: form ?? `${EVENTS}; ${CRITERIA}; ${ACTIONS}`, next: 'Get-Triggers' };
}
