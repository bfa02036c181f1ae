import type { JsonObject } from '../../../kernel/json.ts';
import { badArguments } from '../answers/refusals.ts';

const FORM = 'event is create, update, delete, several of them with commas, or "schedule <cron> [time zone]"';

/** Fields of a cron, with and without seconds. */
const MOST_CRON = 6;

/**
 * What `event` says of a definition: `create,update`, or `schedule 0 8 * * 1-5 Asia/Jerusalem`; `schedule` alone keeps the one there is.
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
  const hasZone = words.length > MOST_CRON || /^[A-Za-z][\w+-]*\/[A-Za-z]|^UTC$/.test(last);
  const cron = (hasZone ? words.slice(0, -1) : words).join(' ');
  return { events: ['schedule'], schedule: { cron, ...(hasZone && { timezone: last }) } };
}
