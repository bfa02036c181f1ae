/** What a test says has happened, and the actions that triggers are made of. */
import type { Json } from '../support/records.ts';

/** How many there are of each kind of thing. */
export type Counts = Record<string, number>;

/** Returns what was added since. */
export const difference = (now: Counts, before: Counts): Counts =>
  plus(now, Object.fromEntries(Object.entries(before).map(([name, n]) => [name, -n])));

/** Returns the sums without those that are 0. */
export function plus(...all: readonly Counts[]): Counts {
  const sum: Counts = {};
  for (const counts of all) for (const [name, n] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + n;
  return Object.fromEntries(Object.entries(sum).filter(([, n]) => n !== 0));
}

/** Nothing at all. */
export const nothing: Counts = {};
/** Records made in a table whose timeline is on. */
export const made = (table: string, n = 1): Counts => ({ [`records ${table}`]: n, [`create ${table}`]: n });
export const changed = (table: string, n = 1): Counts => ({ [`update ${table}`]: n });
export const gone = (table: string, n = 1): Counts => ({ [`records ${table}`]: -n, [`delete ${table}`]: n });
/** Records more in a table without a timeline. */
export const rows = (table: string, n = 1): Counts => ({ [`records ${table}`]: n });
export const notified = (n = 1): Counts => rows('_Notification', n);
/** A row when a trigger fires, and one for each action. Reference: triggers.md#trigger-log. */
export const runs = (fired = 1, ran = fired, failed = 0): Counts => ({ fired, ran, failed });
export const called = (n = 1): Counts => ({ calls: n });
/** Mails sent, with their rows: queued, then sent. */
export const mailed = (n = 1): Counts => ({ mails: n, ...made('Emails', n), ...changed('Emails', n) });

/** Actions, as definitions have them. */
export const creates = (table: string, fields: object = {}) => ({ type: 'create-object', actionData: { table, fields } });
export const updates = (target: string, fields: object) => ({ type: 'update-object', actionData: { target, fields } });
export const notifies = (user: string, content = 'Hello') => ({ type: 'notification', actionData: { user, content } });
export const mails = (to: string, more: object = {}) => ({
  type: 'e-mail',
  actionData: { to, subject: 'Hello', html: '<p>Hello</p>', ...more },
});
export const runsCode = (functionName: string, useQueue = false) => ({
  type: 'server-side-code',
  actionData: { functionName, useQueue },
});

/** Returns the text of the error column, which holds a JSON string (system-tables.md#_syslogtriggers). */
export const said = ({ error }: Json): string => JSON.parse(error);
