import { authorize, mayView } from '../../access/index.ts';
import { isJsonObject, type JsonObject } from '../../kernel/json.ts';
import { KeyedMutex } from '../../kernel/keyed-mutex.ts';
import { memoByObject } from '../../kernel/memo.ts';
import { holding } from '../../records/index.ts';
import type { Field } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import { runExclusive } from '../commands/exclusive.ts';
import { eachItem, type ItemOutcome, reporter, tally } from '../commands/items.ts';
import type { CrmContext } from '../context.ts';
import { idsFound } from '../queries/existing-ids.ts';
import { tableNamed } from '../queries/records.ts';
import { badArguments } from '../refusals.ts';
import { columnsOf, type FieldFinder, fieldFinder } from './columns.ts';
import { matcherFor } from './matches.ts';
import { readFlatRows } from './rows.ts';
import { type Item, type OnDuplicate, type RowOptions, rowWriter } from './write.ts';

/** The arguments of an import. */
export interface ImportRequest {
  readonly table: string;
  readonly rows: readonly JsonObject[];
  readonly fieldMap?: JsonObject | undefined;
  readonly matchOn?: readonly string[] | undefined;
  readonly onDuplicate: OnDuplicate;
  readonly dryRun?: boolean | undefined;
}

/** The result of an import. */
export interface ImportResult {
  /** Counts by action, and the field of each column. */
  readonly summary: JsonObject;
  /** One result per row, in order. */
  readonly outcomes: readonly ItemOutcome[];
}

const ID = 'objectId';

/**
 * Imports flat rows; each has its own result, in order, without rollback. Faulty columns are refused before anything is written.
 * Reference: agents.md#import-records.
 * @throws classMissing (103), invalidArguments (107), permissionDenied (119)
 */
export async function importRows(
  context: CrmContext,
  { table: className, rows, fieldMap, matchOn = [], ...how }: ImportRequest,
): Promise<ImportResult> {
  const { onDuplicate, dryRun = false } = how;
  const table = tableNamed(context, className);
  authorize(context.principal, 'create', table);
  if (onDuplicate === 'update') authorize(context.principal, 'update', table);
  if (dryRun && matchOn.length > 0 && !mayView(context.principal))
    badArguments('dryRun with matchOn tells which records there are, which takes the permission mcp:view', {
      expected: 'The same without dryRun, or without matchOn',
    });
  const find = await fieldFinder(context, table);
  const columns = columnsOf(context, table, find, rows, fieldMap);
  const used = new Set(columns.map(({ field }) => field.name));
  const matcher = matcherFor(context, table, matchFields(find, matchOn, used));
  const isMatched = matchOn.length > 0 && !dryRun;
  const keyOf = (fields: JsonObject) => (typeof fields[ID] === 'string' ? `objectId ${fields[ID]}` : matcher.keyOf(fields));
  const read = await readFlatRows(context, columns, rows);
  const data = read.map(({ fields }) => fields);
  const execute = async () => {
    const keys = read.map(({ fields }) => keyOf(fields));
    const held = await contextsFor(context, className, isMatched && onDuplicate !== 'create' ? keys : []);
    const [matches, present] = [await matcher.find(data), await namedIds(context, className, data)];
    const items = read.map(({ fields, faults }, at): Item => {
      const { [ID]: id, ...written } = fields;
      const named = typeof id === 'string' ? id : undefined;
      const missing =
        named !== undefined && !present.has(named) ? [`objectId: ${className} has no record ${named.slice(0, 100)}`] : [];
      const key = keys[at];
      const ids = named === undefined ? (key === undefined ? [] : (matches.get(key) ?? [])) : [named];
      const own = (key === undefined ? undefined : held.get(key)) ?? context;
      return { context: own, data: written, faults: [...faults, ...missing], key, ids, isNamed: named !== undefined };
    });
    const lookAgain: RowOptions['lookAgain'] = (item, work) =>
      runExclusive(context, lockOf(className, item.key ?? ''), async (own) => {
        const found = await matcher.find([item.data]);
        return work({ ...item, context: own, ids: found.get(item.key ?? '') ?? [] });
      });
    const write = rowWriter(context, className, { onDuplicate, dryRun, lookAgain });
    return eachItem(items, reporter(context.services.conditions), write);
  };
  // Of two imports of the same rows, the second finds what the first created. Rows created by another process meanwhile are looked up again.
  const outcomes = await (isMatched ? imports(context.store).runExclusive(className, execute) : execute());
  const summary = {
    ...(dryRun && { dryRun }),
    ...counts(outcomes),
    columns: Object.fromEntries(columns.map(({ column, field }) => [column, field.name])),
  };
  return { summary, outcomes };
}

/** One mutex per store, keyed by table: imports within this process. */
const imports = memoByObject<Store, KeyedMutex>(() => new KeyedMutex());

const lockOf = (className: string, key: string) => `import ${className} ${key}`;

/** Returns per key the context to write with, which makes the write fail if another process has created a record with the same key meanwhile. */
async function contextsFor(
  context: CrmContext,
  className: string,
  keys: readonly (string | undefined)[],
): Promise<ReadonlyMap<string, CrmContext>> {
  const distinct = [...new Set(keys)].filter((key) => key !== undefined);
  if (distinct.length === 0) return new Map();
  const versions = await context.store.keyVersions(distinct.map((key) => lockOf(className, key)));
  return new Map(versions.map((version, at) => [distinct[at] ?? '', { ...context, ...holding(context, [version]) }]));
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

/** Returns those of the objectIds named in rows that the caller may find. */
function namedIds(context: CrmContext, className: string, data: readonly JsonObject[]): Promise<ReadonlySet<string>> {
  const ids = data.flatMap(({ [ID]: id }) => (typeof id === 'string' ? [id] : []));
  return idsFound(context, className, ids);
}

function counts(outcomes: readonly ItemOutcome[]): JsonObject {
  const sums: Record<string, number> = { created: 0, updated: 0, skipped: 0, failed: tally(outcomes).failed };
  for (const outcome of outcomes) {
    const action = 'success' in outcome && isJsonObject(outcome.success) ? outcome.success.action : undefined;
    if (typeof action === 'string') sums[action] = (sums[action] ?? 0) + 1;
  }
  return sums;
}
