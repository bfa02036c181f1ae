import { grantFor } from '../../../access/index.ts';
import { TIMELINE, writesOf } from '../../../crm/history/past.ts';
import { hiddenFields } from '../../../crm/queries/field-visibility.ts';
import { named, namesOf } from '../../../crm/queries/names.ts';
import { findRows, oneMore, type Row, tableNamed } from '../../../crm/queries/records.ts';
import { instantOfArgument } from '../../../crm/time/range.ts';
import { pointedAt, wireDate } from '../../../crm/wire/values.ts';
import { isJsonObject, type JsonObject, jsonBytes } from '../../../kernel/json.ts';
import { rootOf, type TableSchema } from '../../../schema/model.ts';
import { causeField, isHidden, isLog } from '../../../schema/system-tables.ts';
import { choice, limit, localTime, names, objectId, skip } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { countFitting, MAX_RESULT_BYTES } from '../../results/page.ts';

/** Maximum number of fields named per row. */
const MAX_FIELDS = 50;

/** Reference: tools.md#get-recent-changes, audit.md#timeline. */
export const getRecentChanges = defineTool({
  name: 'Get-Recent-Changes',
  group: 'history',
  description: 'What changed in the system since a time; deletions too.',
  input: {
    since: localTime(),
    tables: names(200).optional(),
    event: choice(['create', 'update', 'delete']).optional(),
    userId: objectId().optional(),
    limit: limit(50),
    skip: skip(),
  },
  needs: ['mcp:view'],
  effect: 'read',
  about: TIMELINE,
  async run(call, { since, tables, event, userId, limit: maxRows, skip: from }) {
    const { readable, hidden, isAll } = tablesOf(call, tables);
    const start = wireDate(await instantOfArgument(call, since));
    const where = {
      createdAt: { $gte: start },
      ...(!isAll && { objectClass: { $in: [...readable.keys()] } }),
      ...(event && { event }),
      ...(userId !== undefined && writesOf(userId)),
    };
    const rows = await findRows(call, TIMELINE, { where, order: '-createdAt,-objectId', skip: from, limit: oneMore(maxRows) });
    const described = await describe(call, rows.slice(0, maxRows), readable);
    const fitting = countFitting(
      described.map(({ entry }) => entry),
      MAX_RESULT_BYTES - FRAME_BYTES - jsonBytes(tables ?? []),
    );
    const cut = described[fitting];
    const next = cut ? cut.at : rows.length > maxRows ? maxRows : undefined;
    return {
      results: described.slice(0, fitting).map(({ entry }) => entry),
      since: start.iso ?? null,
      ...coverage(readable, tables !== undefined),
      ...(hidden.length > 0 && { hidden: [...hidden] }),
      ...(cut && { truncated: true }),
      ...(next !== undefined && { nextSkip: from + next }),
    };
  },
});

/** Room for what surrounds the rows, besides the names of tables. */
const FRAME_BYTES = 1_000;

/** Reports the tables whose changes are not recorded. */
function coverage(readable: ReadonlyMap<string, TableSchema>, isNamed: boolean): JsonObject {
  if (!isNamed) return { hint: 'Only tables whose timeline is on are covered.' };
  const notTracked = [...readable.values()].filter((table) => !table.timeline || isLog(table.className));
  if (notTracked.length === 0) return {};
  return {
    notTracked: notTracked.map(({ className }) => className),
    hint: 'The timeline of notTracked is off: their changes are not kept. Set-Table-Timeline turns it on.',
  };
}

interface Tables {
  readonly readable: ReadonlyMap<string, TableSchema>;
  readonly hidden: readonly string[];
  /** Whether all tables are requested and readable: then changes of deleted tables count too. */
  readonly isAll: boolean;
}

/** Returns the tables to report; those that the caller may not read are left out. @throws classMissing (103) */
function tablesOf(call: ToolCall, requested: readonly string[] | undefined): Tables {
  const all = [...call.store.schema().tables.values()].filter(({ className }) => !isHidden(className));
  const selected = requested ? [...new Set(requested)].map((name) => tableNamed(call, name)) : all;
  const readable = selected.filter((table) => grantFor(call.principal, 'find', table) !== null);
  const hidden = selected.filter((table) => !readable.includes(table)).map(({ className }) => className);
  return {
    readable: new Map(readable.map((table) => [table.className, table])),
    hidden: requested ? hidden : [],
    isAll: !requested && hidden.length === 0,
  };
}

/** Describes the rows, each with its position in the list. */
async function describe(call: ToolCall, rows: readonly Row[], tables: ReadonlyMap<string, TableSchema>) {
  const records = await recordsOf(call, rows);
  const users = await namesOf(
    call,
    '_User',
    rows.map(({ user }) => pointedAt(user)).filter((id) => id !== undefined),
  );
  return rows.map((row, at) => {
    const [className, id] = [String(row.objectClass), String(row.objectIdValue)];
    const user = pointedAt(row.user);
    const fields = fieldsOf(call, row, tables.get(className));
    const entry: JsonObject = {
      at: row.createdAt as string,
      event: String(row.event),
      table: className,
      ...named(id, records.get(className) ?? new Map()),
      ...(user !== undefined && { user: named(user, users) }),
      ...(fields.length > 0 && { fields }),
    };
    return { entry, at };
  });
}

/** Returns the names of the records that the caller may find, by class. */
async function recordsOf(call: ToolCall, rows: readonly Row[]): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const idsOf = Map.groupBy(rows, ({ objectClass }) => String(objectClass));
  const found = new Map<string, ReadonlyMap<string, string>>();
  for (const [className, ofTable] of idsOf) {
    const ids = [...new Set(ofTable.map(({ objectIdValue }) => String(objectIdValue)))];
    found.set(className, await namesOf(call, className, ids));
  }
  return found;
}

function fieldsOf(call: ToolCall, { data }: Row, table: TableSchema | undefined): string[] {
  if (!isJsonObject(data)) return [];
  const hidden = table && hiddenFields(call, table);
  const sent = new Set(Object.keys(data).map(rootOf));
  const isShown = (name: string) => !hidden?.has(name) && (name !== causeField || table?.fields.has(causeField) === true);
  return [...sent].filter(isShown).slice(0, MAX_FIELDS);
}
