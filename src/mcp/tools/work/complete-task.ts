import { mayUse } from '../../../access/index.ts';
import { fail } from '../../../errors/fail.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { type RecordWrite, writeTogether } from '../../../records/index.ts';
import { objectId, text } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { badArguments } from '../../kit/answers/refusals.ts';
import { doneStatus } from '../../kit/crm/done-status.ts';
import { linksTo } from '../../kit/crm/links.ts';
import { isClosed, statusesOf } from '../../kit/crm/statuses.ts';
import { getRow } from '../../kit/reading/records.ts';
import { tableNamed } from '../../kit/reading/tables.ts';
import { seen } from '../../kit/reading/visible.ts';
import { pointedAt, pointer, wireDate } from '../../kit/values/wire.ts';

const TABLE = 'Tasks';
const STATUS = 'StatusId';
const COMPLETED = 'CompletedAt';
const NOTES = 'Notes';

/** The task and its note are one commit. */
export const completeTask = defineTool({
  name: 'Complete-Task',
  group: 'work',
  description: "Set a task to the system's done status and optionally note why.",
  input: { objectId: objectId(), comment: text(1_000_000).optional() },
  needs: ['mcp:update'],
  effect: 'change',
  about: TABLE,
  listedBy: 'Get-Tasks',
  async run(call, { objectId: id, comment }) {
    const tasks = tableNamed(call, TABLE);
    const statuses = await statusesOf(call, tasks, STATUS);
    if (!statuses) badArguments(`${TABLE} has no Pointer ${STATUS} that you may see`, { next: 'Get-Schema' });
    const task = await getRow(call, TABLE, id, { keys: ['objectId', ...seen(call, tasks, [STATUS])] });
    const now = pointedAt(task[STATUS]);
    const done = doneStatus(statuses);
    const isDone = now === done.objectId;
    const body: JsonObject = {
      [STATUS]: pointer(statuses.className, done.objectId),
      ...(tasks.fields.get(COMPLETED)?.type === 'Date' && { [COMPLETED]: wireDate(Date.now()) }),
    };
    const writes: RecordWrite[] = [
      ...(isDone ? [] : [{ kind: 'update', className: TABLE, objectId: id, body } as const]),
      ...(comment === undefined ? [] : [await noteOf(call, id, comment)]),
    ];
    const written = writes.length > 0 ? await writeTogether(call.context, writes) : [];
    const noteId = comment === undefined ? undefined : written.at(-1)?.objectId;
    const before = statuses.rows?.find((status) => status.objectId === now);
    return {
      objectId: id,
      status: { objectId: done.objectId, Name: done.Name ?? null },
      ...(isDone && { alreadyDone: true }),
      ...(!isDone && before && isClosed(before) && { statusBefore: before.Name ?? null }),
      ...(noteId !== undefined && { noteId }),
    };
  },
});

/** The tool asks for the permission to update; a note is a record more. @throws permissionDenied (119) */
async function noteOf(call: ToolCall, taskId: string, comment: string): Promise<RecordWrite> {
  if (!mayUse(call.principal, 'mcp:create')) fail('permissionDenied', 'create', NOTES);
  const links = await linksTo(call, tableNamed(call, NOTES), { table: TABLE, objectId: taskId });
  return { kind: 'create', className: NOTES, body: { ...links, Comment: comment } };
}
