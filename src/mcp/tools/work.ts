import { ACTIVITIES, activitiesIn, activityFields, calendarHint, MAX_ACTIVITIES, type Span } from '../../crm/calendar/events.ts';
import { freeSlots } from '../../crm/calendar/free-slots.ts';
import { scheduleActivity } from '../../crm/calendar/schedule.ts';
import { completeTask, createTask, findTasks, TASKS } from '../../crm/calendar/tasks.ts';
import { callerId, requireUser } from '../../crm/queries/owners.ts';
import { briefOf } from '../../crm/queries/summary.ts';
import { badArguments } from '../../crm/refusals.ts';
import { endIn, instantIn, rangeToJson } from '../../crm/time/range.ts';
import { timeZoneOf } from '../../crm/time/time-zone.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { DAY_MS, HOUR_MS } from '../../kernel/time.ts';
import { choice, flag, limit, localTime, names, object, objectId, skip, text } from '../definition/parameters.ts';
import { defineTool, type Tool, type ToolCall } from '../definition/tool.ts';
import { headOf, pageOf } from '../results/page.ts';

const createTaskTool = defineTool({
  name: 'Create-Task',
  group: 'work',
  description:
    'Create a task, linked to an account or another record (relatedTo {table, objectId}); by default in the first open status and owned by the signed-in user.',
  input: {
    name: text(1_000),
    date: localTime().optional(),
    accountId: objectId().optional(),
    ownerId: objectId().optional(),
    statusId: objectId().optional(),
    description: text(1_000_000).optional(),
    relatedTo: object().optional(),
  },
  needs: ['mcp:create'],
  effect: 'add',
  about: TASKS,
  run: createTask,
});

const getTasks = defineTool({
  name: 'Get-Tasks',
  group: 'work',
  description: 'Tasks by owner, account or due date (before today, today, the next 7 days); open ones alone by default.',
  input: {
    ownerId: objectId().optional(),
    accountId: objectId().optional(),
    due: choice(['overdue', 'today', 'week', 'all']).default('all'),
    includeDone: flag().default(false),
    limit: limit(20),
    skip: skip(),
  },
  needs: ['mcp:view'],
  effect: 'read',
  about: TASKS,
  async run(call, question) {
    const { tasks, zone, hidden } = await findTasks(call, question);
    return { ...pageOf(tasks, question), timeZone: zone, ...(hidden.length > 0 && { hidden: [...hidden] }) };
  },
});

/** Writes the task and its note in one commit. */
const completeTaskTool = defineTool({
  name: 'Complete-Task',
  group: 'work',
  description: "Set a task to the system's done status and optionally note why.",
  input: { objectId: objectId(), comment: text(1_000_000).optional() },
  needs: ['mcp:update'],
  effect: 'change',
  about: TASKS,
  listedBy: 'Get-Tasks',
  run: (call, { objectId: id, comment }) => completeTask(call, id, comment),
});

const scheduleActivityTool = defineTool({
  name: 'Schedule-Activity',
  group: 'work',
  description:
    'Put a meeting in the calendar, by default of the signed-in user; refused with the list of conflicts of its owner unless allowConflict.',
  input: {
    name: text(1_000),
    startTime: localTime(),
    endTime: localTime(),
    accountId: objectId().optional(),
    ownerId: objectId().optional(),
    location: text(1_000).optional(),
    allowConflict: flag().default(false),
  },
  needs: ['mcp:create'],
  effect: 'add',
  about: ACTIVITIES,
  run: scheduleActivity,
});

const MAX_DAYS = 92;
const MAX_OWNERS = 50;
const NARROW = 'Ask for a shorter range, or fewer owners.';

const getCalendar = defineTool({
  name: 'Get-Calendar',
  group: 'work',
  description:
    'Activities in a range of up to 92 days, of all or of ownerIds; or the free slots of each owner within working hours.',
  input: { from: localTime(), to: localTime(), ownerIds: names(MAX_OWNERS).optional(), freeSlots: flag().default(false) },
  needs: ['mcp:view'],
  effect: 'read',
  about: ACTIVITIES,
  async run(call, { from, to, ownerIds = [], freeSlots: asksSlots }) {
    const zone = await timeZoneOf(call);
    const range: Span = { start: instantIn(zone, from), end: endIn(zone, to) };
    if (range.end <= range.start) badArguments('to must be after from');
    if (range.end - range.start > MAX_DAYS * DAY_MS + HOUR_MS) badArguments(`from and to must be at most ${MAX_DAYS} days apart`);
    if (!asksSlots) return hinted(call, await activitiesOf(call, zone, range, ownerIds));
    const owners = ownersFor(call, ownerIds);
    await Promise.all(owners.map((owner) => requireUser(call, 'ownerIds', owner)));
    const { owners: shown, workingHours } = await freeSlots(call, zone, range, owners, NARROW);
    return hinted(call, { ...headOf(shown, shown.length, NARROW), ...shownEnds(range), timeZone: zone, workingHours });
  },
});

function hinted(call: ToolCall, answer: JsonObject): JsonObject {
  const hints = [answer.hint, calendarHint(call)].filter((hint) => hint !== undefined);
  return hints.length > 0 ? { ...answer, hint: hints.join(' ') } : answer;
}

async function activitiesOf(call: ToolCall, zone: string, range: Span, ownerIds: readonly string[]): Promise<JsonObject> {
  const found = await activitiesIn(call, zone, range, ownerIds.length > 0 ? ownerIds : undefined);
  const shown = found.map(({ row }) => briefOf(row, activityFields));
  return { ...headOf(shown, MAX_ACTIVITIES, NARROW), ...shownEnds(range), timeZone: zone };
}

const shownEnds = ({ start, end }: Span): JsonObject => rangeToJson({ from: start, to: end, isToWithin: false });

function ownersFor(call: ToolCall, ownerIds: readonly string[]): readonly string[] {
  const own = callerId(call);
  if (ownerIds.length > 0) return [...new Set(ownerIds)];
  return own === undefined ? badArguments('freeSlots takes ownerIds', { next: 'Get-all-Users' }) : [own];
}

export const workTools: readonly Tool[] = [createTaskTool, completeTaskTool, getTasks, scheduleActivityTool, getCalendar];
