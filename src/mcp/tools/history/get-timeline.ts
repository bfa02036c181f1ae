import type { Grant } from '../../../access/index.ts';
import { ChangeWalk, type Entry, type FieldChange } from '../../../crm/history/change-walk.ts';
import { grantOfPast, rowsOf, TIMELINE } from '../../../crm/history/past.ts';
import { named, namesOf, withPointerNames } from '../../../crm/queries/names.ts';
import { findRows, oneMore, tableNamed } from '../../../crm/queries/records.ts';
import { beginningOf } from '../../../crm/wire/short-text.ts';
import { pointedAt } from '../../../crm/wire/values.ts';
import { fail } from '../../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import { causeField, isLog } from '../../../schema/system-tables.ts';
import { limit, names, objectId, skip, table } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { pageOf } from '../../results/page.ts';

/** Rows that are read at once, and at most for one call. */
const BATCH_SIZE = 200;
const MAX_ROWS_READ = 5_000;

/** SPEC "Events": `_Timeline`. */
export const getTimeline = defineTool({
  name: 'Get-Timeline',
  group: 'history',
  description: 'Change history of one record: who, when, field from and to.',
  input: { table: table(), objectId: objectId(), fields: names(100).optional(), limit: limit(20), skip: skip() },
  needs: ['mcp:view'],
  effect: 'read',
  async run(call, { table: className, objectId: id, fields, limit: most, skip: from }) {
    const about = tableNamed(call, className);
    const grant = await grantOfPast(call, about, id);
    const isWanted = wanted(grant, fields);
    const { known, hasMore } = await walk(call, rowsOf(about, id), isWanted, from + oneMore(most));
    const shown = known.filter(({ changes, row }) => fields === undefined || changes.size > 0 || row.event === 'delete');
    if (shown.length === 0 && grant.isGone) fail('objectNotFound');
    const page = pageOf(await describe(call, shown.slice(from, from + oneMore(most))), { skip: from, limit: most });
    if (hasMore) page.hint = `Only the newest ${MAX_ROWS_READ} writes of the record were looked at.`;
    if (shown.length === 0 && !about.timeline && !isLog(className))
      page.hint = `The timeline of ${className} is off; Set-Table-Timeline turns it on.`;
    return page;
  },
});

/** Hidden fields are hidden in what was, too. @throws fieldDenied (119) for one that is asked for */
function wanted({ hiddenFields, table: about }: Grant, fields: readonly string[] | undefined): (field: string) => boolean {
  const denied = fields?.find((name) => hiddenFields.has(name));
  if (denied !== undefined) fail('fieldDenied', denied, about.className);
  const asked = fields && new Set(fields);
  const isOwn = about.fields.has(causeField);
  return (field) => !hiddenFields.has(field) && (asked?.has(field) ?? true) && (isOwn || field !== causeField);
}

/** Reads the rows of a record until so many changes are known, and what was there before them. */
async function walk(call: ToolCall, where: JsonObject, isWanted: (field: string) => boolean, needed: number) {
  const history = new ChangeWalk(isWanted);
  for (let read = 0; read < MAX_ROWS_READ; read += BATCH_SIZE) {
    const ask = {
      where,
      keys: ['event', 'user', 'data', 'Referer'],
      order: '-createdAt,-objectId',
      skip: read,
      limit: BATCH_SIZE,
    };
    const rows = await findRows(call, TIMELINE, ask);
    for (const row of rows) history.add(row);
    if (rows.length < BATCH_SIZE) return { known: history.known(true), hasMore: false };
    const known = history.known(false);
    if (known.length >= needed) return { known, hasMore: false };
    call.signal.throwIfAborted();
  }
  return { known: history.known(true), hasMore: true };
}

async function describe(call: ToolCall, entries: readonly Entry[]): Promise<JsonObject[]> {
  const users = await namesOf(
    call,
    '_User',
    entries.map(({ row }) => pointedAt(row.user)).filter((id) => id !== undefined),
  );
  const values = entries.flatMap(({ changes }) => [...changes.values()].flatMap(valuesOf));
  const shown = (await withPointerNames(call, values)).map(beginningOf).values();
  const next = (): JsonValue => shown.next().value ?? null;
  return entries.map(({ row, changes }) => {
    const told: JsonObject = Object.create(null);
    for (const [field, { from, steps }] of changes) {
      const before: JsonObject = from === undefined ? {} : { from: next() };
      // An operator does not tell what came out of it.
      const after: JsonObject = steps
        ? { change: Object.fromEntries([...steps.keys()].map((name) => [name, next()])) }
        : { to: next() };
      told[field] = { ...before, ...after };
    }
    return {
      at: row.createdAt as JsonValue,
      event: row.event as JsonValue,
      ...causeOf(row, users),
      ...(changes.size > 0 && { changes: told }),
    };
  });
}

/** The values of a change, in the order in which they are shown. */
const valuesOf = ({ from, to = null, steps }: FieldChange): JsonValue[] => [
  ...(from === undefined ? [] : [from]),
  ...(steps ? steps.values() : [to]),
];

/** Who wrote, and by what. */
function causeOf({ user, data, Referer }: JsonObject, users: ReadonlyMap<string, string>): JsonObject {
  const id = pointedAt(user);
  const trigger = isJsonObject(data) ? own(data, causeField) : undefined;
  return {
    ...(id !== undefined && { user: named(id, users) }),
    ...(typeof Referer === 'string' && { referer: Referer }),
    ...(typeof trigger === 'string' && { trigger }),
  };
}
