import { mayUse } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type RecordWrite, writeAtomically } from '../../records/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import { createRow } from '../commands/records.ts';
import type { CrmContext } from '../context.ts';
import { linksTo, linkTargetOf } from '../customers/links.ts';
import { queryableFields, visibleFields } from '../queries/field-visibility.ts';
import { nullsLast } from '../queries/nulls-last.ts';
import { callerId, ownerField, ownerFields, requireUser, userPointer } from '../queries/owners.ts';
import { getRow, oneMore, requireField, tableNamed } from '../queries/records.ts';
import { doneStatus, firstOpen, hiddenStatuses, isClosed, openOnly, statusesOf, statusPointer } from '../queries/statuses.ts';
import { briefly, briefOf } from '../queries/summary.ts';
import { badArguments } from '../refusals.ts';
import { instantOfArgument } from '../time/range.ts';
import { addDays, dayIn, startOfDay, timeZoneOf } from '../time/time-zone.ts';
import { pointedAt, pointer, wireDate } from '../wire/values.ts';

export const TASKS = 'Tasks';
const STATUS = 'StatusId';

const COMPLETED = 'CompletedAt';
const NOTES = 'Notes';

const shown = ['Name', 'Date', 'StatusId', 'OwnerId', 'AccountId', 'ContactId', 'SaleId', 'CaseId', 'TypeId', 'Important'];
const WEEK_DAYS = 7;

/** A new task. */
export interface NewTask {
  readonly name: string;
  /** Without a zone it is in the system's time zone. */
  readonly date?: string | undefined;
  readonly accountId?: string | undefined;
  /** The caller if absent. */
  readonly ownerId?: string | undefined;
  /** The first open one if absent. */
  readonly statusId?: string | undefined;
  readonly description?: string | undefined;
  /** `{table, objectId}` */
  readonly relatedTo?: JsonObject | undefined;
}

/**
 * Creates a task, linked to an account or another record.
 * @throws invalidArguments (107) for a status, user or record that does not exist; what `createRecord` throws
 */
export async function createTask(context: CrmContext, task: NewTask): Promise<JsonObject> {
  const { name: Name, date, accountId, ownerId = callerId(context), statusId, description, relatedTo } = task;
  const tasks = tableNamed(context, TASKS);
  const data: JsonObject = {};
  if (relatedTo) Object.assign(data, await linksTo(context, tasks, linkTargetOf('relatedTo', relatedTo)));
  if (accountId !== undefined) Object.assign(data, await linksTo(context, tasks, { table: 'Accounts', objectId: accountId }));
  if (ownerId !== undefined && ownerFields(tasks).length > 0) {
    await requireUser(context, 'ownerId', ownerId);
    data[ownerField(context, tasks)] = userPointer(ownerId);
  }
  const status =
    statusId === undefined ? await defaultStatus(context, tasks) : await statusPointer(context, tasks, STATUS, statusId);
  if (status) data[STATUS] = status;
  if (date !== undefined) data.Date = wireDate(await instantOfArgument(context, date));
  const created = await createRow(context, TASKS, {
    Name,
    ...(description !== undefined && { Description: description }),
    ...data,
  });
  return { ...created, ...data };
}

async function defaultStatus(context: CrmContext, tasks: TableSchema): Promise<JsonObject | undefined> {
  const statuses = await statusesOf(context, tasks, STATUS);
  const first = firstOpen(statuses);
  return statuses && first && pointer(statuses.className, first.objectId);
}

/** Filter and page of a list of tasks. */
export interface TaskQuery {
  readonly ownerId?: string | undefined;
  readonly accountId?: string | undefined;
  readonly due: 'overdue' | 'today' | 'week' | 'all';
  readonly includeDone: boolean;
  readonly skip: number;
  readonly limit: number;
}

/** Tasks by their due date. */
export interface FoundTasks {
  /** One more than requested if there are more. */
  readonly tasks: readonly JsonObject[];
  readonly zone: string;
  /** Tables that the caller may not read. */
  readonly hidden: readonly string[];
}

/**
 * Finds tasks. Days are whole days of the system's time zone: a task due today is not overdue.
 * @throws invalidArguments (107) if tasks have no date in this system; permissionDenied, fieldDenied (119)
 */
export async function findTasks(context: CrmContext, query: TaskQuery): Promise<FoundTasks> {
  const { ownerId, accountId, due, includeDone, skip, limit } = query;
  const tasks = tableNamed(context, TASKS);
  if (due !== 'all') requireField(tasks, 'Date', 'Date');
  const statuses = includeDone ? undefined : await statusesOf(context, tasks, 'StatusId');
  const zone = await timeZoneOf(context);
  const where: JsonObject = {
    ...(ownerId !== undefined && { OwnerId: userPointer(ownerId) }),
    ...(accountId !== undefined && { AccountId: pointer('Accounts', accountId) }),
    ...dueOnly(due, zone),
    ...(!includeDone && (statuses ? openOnly(statuses) : notCompleted(context, tasks))),
  };
  const ask = { ...briefly(context, tasks, shown), where, skip, limit: oneMore(limit) };
  const rows = await nullsLast(context, tasks, 'Date', ask);
  return { tasks: rows.map((row) => briefOf(row, shown)), zone, hidden: hiddenStatuses(statuses) };
}

function dueOnly(due: 'overdue' | 'today' | 'week' | 'all', zone: string): JsonObject {
  if (due === 'all') return {};
  const today = dayIn(zone, Date.now());
  const start = wireDate(startOfDay(zone, today));
  if (due === 'overdue') return { Date: { $lt: start } };
  return { Date: { $gte: start, $lt: wireDate(startOfDay(zone, addDays(today, due === 'today' ? 1 : WEEK_DAYS))) } };
}

/** Without a status field, an open task is one without a completion time. */
const notCompleted = (context: CrmContext, tasks: TableSchema): JsonObject =>
  queryableFields(context, tasks, ['CompletedAt']).length > 0 ? { CompletedAt: { $exists: false } } : {};

/**
 * Sets a task to the done status, adding the comment as a note in the same commit.
 * @throws objectNotFound (101), invalidArguments (107) if no done status can be determined; permissionDenied (119)
 */
export async function completeTask(context: CrmContext, id: string, comment: string | undefined): Promise<JsonObject> {
  const tasks = tableNamed(context, TASKS);
  const statuses = await statusesOf(context, tasks, STATUS);
  if (!statuses) badArguments(`${TASKS} has no Pointer ${STATUS} that you may see`, { next: 'Get-Schema' });
  const task = await getRow(context, TASKS, id, { keys: ['objectId', ...visibleFields(context, tasks, [STATUS])] });
  const now = pointedAt(task[STATUS]);
  const done = doneStatus(statuses);
  const isDone = now === done.objectId;
  const body: JsonObject = {
    [STATUS]: pointer(statuses.className, done.objectId),
    ...(tasks.fields.get(COMPLETED)?.type === 'Date' && { [COMPLETED]: wireDate(Date.now()) }),
  };
  const writes: RecordWrite[] = [
    ...(isDone ? [] : [{ kind: 'update', className: TASKS, objectId: id, body } as const]),
    ...(comment === undefined ? [] : [await noteOf(context, id, comment)]),
  ];
  const written = writes.length > 0 ? await writeAtomically(context, writes) : [];
  const noteId = comment === undefined ? undefined : written.at(-1)?.objectId;
  const before = statuses.rows?.find((status) => status.objectId === now);
  return {
    objectId: id,
    status: { objectId: done.objectId, Name: done.Name ?? null },
    ...(isDone && { alreadyDone: true }),
    ...(!isDone && before && isClosed(before) && { statusBefore: before.Name ?? null }),
    ...(noteId !== undefined && { noteId }),
  };
}

/** The tool requires the permission to update only; a note additionally requires the permission to create. @throws permissionDenied (119) */
async function noteOf(context: CrmContext, taskId: string, comment: string): Promise<RecordWrite> {
  if (!mayUse(context.principal, 'mcp:create')) fail('permissionDenied', 'create', NOTES);
  const links = await linksTo(context, tableNamed(context, NOTES), { table: TASKS, objectId: taskId });
  return { kind: 'create', className: NOTES, body: { ...links, Comment: comment } };
}
