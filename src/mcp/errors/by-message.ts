import type { Advice } from '../../crm/refusals.ts';
import type { ErrorKey } from '../../errors/catalogue.ts';
import type { ServiceError } from '../../errors/fail.ts';

type Case = readonly [message: RegExp, advice: Advice];

const list: Advice = { expected: 'A list of values, such as {"$in":["<value>","<value>"]}' };

/** Advice for keys whose errors have several causes. The first matching message wins. */
const cases: Partial<Record<ErrorKey, readonly Case[]>> = {
  badQuery: [
    [
      /^bad constraint:/,
      {
        expected:
          'Operators of a field: $eq $ne $gt $gte $lt $lte $in $nin $exists $all $containedBy $regex (with $options) $not $inQuery $notInQuery $select $dontSelect $relativeTime; around fields: $and $or $nor $not $relatedTo $text',
      },
    ],
    [
      /^Invalid regular expression|^\$regex is longer|^Bad \$options/,
      {
        expected:
          'A pattern such as {"$regex":"^Da","$options":"i"} (options i, m, s, x); signs of patterns that are meant as they are take \\ before them',
        next: 'Search-Records',
      },
    ],
    [/^\$options needs/, { expected: '{"$regex":"^Da","$options":"i"}' }],
    [/^Bad \$not/, { expected: '{"<Field>":{"$not":{"$gt":5}}}, or {"$nor":[{…}]}' }],
    [/^Bad \$(or|and|nor)/, { expected: 'A list of wheres, such as {"$or":[{"City":"Haifa"},{"City":"Eilat"}]}' }],
    [/^Cannot query on ACL/, { expected: 'Leave ACL out of where: what you may not see is left out by itself' }],
    [
      /^improper usage of \$(select|dontSelect)/,
      { expected: '{"$select":{"query":{"className":"<Table>","where":{…}},"key":"<Field>"}}', next: 'Get-Schema' },
    ],
    [
      /^improper usage of \$relatedTo/,
      { expected: '{"$relatedTo":{"object":<Pointer>,"key":"<Relation field>"}}', next: 'Get-Schema' },
    ],
    [/^improper usage of/, { expected: '{"$inQuery":{"className":"<Table>","where":{…}}}', next: 'Get-Schema' }],
    [/nests|has more than|at most|too (large|long|many)/, { expected: 'Ask for less in one call' }],
  ],
  badConstraint: [
    [/^bad \$(in|nin|all) |\$all values|^bad \$containedBy/, list],
    [/^bad \$exists/, { expected: '{"$exists":true} or {"$exists":false}' }],
    [/^bad \$regex/, { expected: '{"$regex":"<text>","$options":"i"}' }],
    [/^bad \$not/, { expected: '{"$not":{"$gt":5}}' }],
    [
      /\$relativeTime/,
      { expected: '{"$gte":{"$relativeTime":"3 days ago"}}, "in 2 weeks" or "now", on a Date with $lt $lte $gt $gte' },
    ],
    [/^bad \$text/, { expected: '{"$text":{"$search":{"$term":"<words>"}}}', next: 'Search-Records' }],
  ],
  permissionDenied: [
    [
      /action addField on class (?<className>\S+)$/,
      { expected: 'A field that was sent is not in the schema of <className>, and you may not add it', next: 'Get-Schema' },
    ],
  ],
};

/** Returns advice that depends on the message; `undefined` if the key suffices. */
export function adviceByMessage({ key, message }: ServiceError): Advice | undefined {
  if (key === 'invalidTrigger') return triggerAdvice(message);
  for (const [pattern, advice] of cases[key] ?? []) {
    const found = pattern.exec(message);
    if (!found) continue;
    const className = found.groups?.className;
    if (className === undefined || advice.expected === undefined) return advice;
    return { ...advice, expected: advice.expected.replace('<className>', () => className) };
  }
  return undefined;
}

const ACTIONS =
  'actions: [{type, actionData}]; by type actionData is create-object {table, fields}; update-object {target: "self" or a Pointer field, fields}; e-mail {to, cc?, bcc?, subject, html}; notification {user: id or Pointer field, content, icon?}; server-side-code {functionName, useQueue}; texts may hold {{Field}}';
const EVENTS = 'Events are create, update, delete, schedule';
const SCHEDULE =
  'event: "schedule <cron> [time zone]"; a cron has 5 fields (6 with seconds), such as "schedule 0 8 * * 1-5 Asia/Jerusalem"';
const CRITERIA = 'criteria are a where on the fields of the table, such as {"City":"Haifa"}';
const FIELDS = 'changedFields: names of fields of the table';

/** By the beginning of the message. Reference: triggers.md#definition. */
const forms: readonly (readonly [place: RegExp, form: string])[] = [
  [/^(two )?actions/, ACTIONS],
  [/^events/, EVENTS],
  [/^schedule/, SCHEDULE],
  [/^criteria/, CRITERIA],
  [/^changedFields/, FIELDS],
];

/** Returns the expected form of the part of a definition that a message of `invalidTrigger` names; of all parts if it names none. */
export function triggerAdvice(message: string): Advice {
  const why = message.replace(/^Invalid trigger: /, '');
  const form = forms.find(([place]) => place.test(why))?.[1];
  return { expected: form ?? `${EVENTS}; ${CRITERIA}; ${ACTIONS}`, next: 'Get-Triggers' };
}
