import { authorize } from '../../../access/index.ts';
import { isJsonObject, type JsonObject } from '../../../kernel/json.ts';
import type { Field } from '../../../schema/model.ts';
import type { ToolCall } from '../../definition/tool.ts';
import { bytesOf } from '../answers/bytes.ts';
import { eachItem, type Outcome, reporter, tally } from '../answers/items.ts';
import { fittingOutcomes } from '../answers/outcomes.ts';
import { RESULT_BYTES } from '../answers/page.ts';
import { badArguments } from '../answers/refusals.ts';
import { idsFound } from '../reading/present.ts';
import { tableNamed } from '../reading/tables.ts';
import { inTurn } from '../writing/turns.ts';
import { columnsOf, type FieldFinder, fieldFinder } from './columns.ts';
import { matcherFor } from './matches.ts';
import { readFlatRows } from './rows.ts';
import { type Item, type OnDuplicate, rowWriter } from './write.ts';

/** What is to be imported. */
export interface ImportOrder {
  readonly table: string;
  readonly rows: readonly JsonObject[];
  readonly fieldMap?: JsonObject | undefined;
  readonly matchOn?: readonly string[] | undefined;
  readonly onDuplicate: OnDuplicate;
  readonly dryRun?: boolean | undefined;
}

const ID = 'objectId';
const FRAME_BYTES = 2_000;

/**
 * Imports flat rows: each has its own outcome, in order, without rollback. What is wrong with the columns is refused before anything is
 * written.
 * @throws classMissing (103), invalidArguments (107), permissionDenied (119)
 */
export async function importRows(
  call: ToolCall,
  { table: className, rows, fieldMap, matchOn = [], ...how }: ImportOrder,
): Promise<JsonObject> {
  const { onDuplicate, dryRun = false } = how;
  const table = tableNamed(call, className);
  authorize(call.principal, 'create', table);
  if (onDuplicate === 'update') authorize(call.principal, 'update', table);
  const find = await fieldFinder(call, table);
  const columns = columnsOf(table, find, rows, fieldMap);
  const used = new Set(columns.map(({ field }) => field.name));
  const matcher = matcherFor(call, table, matchFields(find, matchOn, used));
  const read = await readFlatRows(call, columns, rows);
  const data = read.map(({ fields }) => fields);
  const carryOut = async () => {
    const [matches, present] = [await matcher.find(data), await namedIds(call, className, data)];
    const items = read.map(({ fields, faults }): Item => {
      const { [ID]: id, ...written } = fields;
      const named = typeof id === 'string' ? id : undefined;
      const missing =
        named !== undefined && !present.has(named) ? [`objectId: ${className} has no record ${named.slice(0, 100)}`] : [];
      const key = named === undefined ? matcher.keyOf(fields) : `objectId ${named}`;
      const ids = named === undefined ? (key === undefined ? [] : (matches.get(key) ?? [])) : [named];
      return { data: written, faults: [...faults, ...missing], key, ids, isNamed: named !== undefined };
    });
    const write = rowWriter(call, className, { onDuplicate, dryRun });
    return eachItem(items, reporter(call.services.log), write);
  };
  // Of two imports of the same rows the second finds what the first has made.
  const outcomes = await (matchOn.length > 0 && !dryRun ? inTurn(call, `import ${className}`, carryOut) : carryOut());
  const told = {
    ...(dryRun && { dryRun }),
    ...counts(outcomes),
    columns: Object.fromEntries(columns.map(({ column, field }) => [column, field.name])),
  };
  return { ...told, results: fittingOutcomes(outcomes, RESULT_BYTES - FRAME_BYTES - bytesOf(told)) };
}

function matchFields(find: FieldFinder, matchOn: readonly string[], used: ReadonlySet<string>): Field[] {
  const fields = matchOn.map((name) => {
    const field = find(name);
    if ('fault' in field) return badArguments(`matchOn: ${field.fault}`, { next: 'Get-Schema' });
    if (!used.has(field.name))
      badArguments(`matchOn: no column is the field ${field.name}`, { expected: `One of ${[...used].join(', ')}` });
    return field;
  });
  return [...new Map(fields.filter(({ name }) => name !== ID).map((field) => [field.name, field])).values()];
}

/** Those of the records that rows name by objectId which the caller may find. */
function namedIds(call: ToolCall, className: string, data: readonly JsonObject[]): Promise<ReadonlySet<string>> {
  const ids = data.flatMap(({ [ID]: id }) => (typeof id === 'string' ? [id] : []));
  return idsFound(call, className, ids);
}

function counts(outcomes: readonly Outcome[]): JsonObject {
  const sums: Record<string, number> = { created: 0, updated: 0, skipped: 0, failed: tally(outcomes).failed };
  for (const outcome of outcomes) {
    const action = 'success' in outcome && isJsonObject(outcome.success) ? outcome.success.action : undefined;
    if (typeof action === 'string') sums[action] = (sums[action] ?? 0) + 1;
  }
  return sums;
}
