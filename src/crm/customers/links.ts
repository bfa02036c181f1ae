import { type JsonObject, own } from '../../kernel/json.ts';
import { isDefaultField } from '../../schema/change.ts';
import type { TableSchema } from '../../schema/model.ts';
import { isSystemTable } from '../../schema/system-tables.ts';
import type { CrmContext } from '../context.ts';
import { visibleFields } from '../queries/field-visibility.ts';
import { getRow, tableIfAny } from '../queries/records.ts';
import { badArguments } from '../refusals.ts';
import { pointedAt, pointer } from '../wire/values.ts';

/** The table of accounts, which records belong to. */
const ACCOUNT = 'Accounts';

/** A record that others are linked to. */
export interface LinkTarget {
  readonly table: string;
  readonly objectId: string;
}

/** Returns the record that an argument names. @throws invalidArguments (107) */
export function linkTargetOf(argument: string, value: JsonObject): LinkTarget {
  const table = own(value, 'table') ?? own(value, 'className');
  const objectId = own(value, 'objectId');
  const isNamed = typeof table === 'string' && table !== '' && typeof objectId === 'string' && objectId !== '';
  if (!isNamed) badArguments(`${argument} must name a record`, { expected: `${argument}: {"table":"Sales","objectId":"<id>"}` });
  return { table, objectId };
}

/** Returns the Pointer field that links records of a table to another table: `AccountId` for Accounts, else the first Pointer to it. */
export function linkField(table: TableSchema, target: string): string | undefined {
  const usual = `${singular(target)}Id`;
  const fields = linksOf(table).filter(([, className]) => className === target);
  const [first] = fields.find(([name]) => name === usual) ?? fields[0] ?? [];
  return first;
}

/** Returns the tables that records can be linked to: Pointers to system tables and lookup tables are properties, not links. */
function linkable(context: CrmContext, table: TableSchema): string[] {
  const targets = new Set(linksOf(table).map(([, className]) => className));
  return [...targets].filter((className) => !isSystemTable(className) && !isValueList(tableIfAny(context, className)));
}

/** Maximum number of own fields of a lookup table (statuses, types, sources). */
const MAX_LOOKUP_FIELDS = 8;

/** Whether a table is a lookup table. Nothing marks them; those of the template have a sort order, and neither an owner nor an account. */
function isValueList(table: TableSchema | undefined): boolean {
  const fields = [...(table?.fields.values() ?? [])].filter(({ name }) => !isDefaultField(name));
  const isOwned = fields.some(({ targetClass }) => targetClass === ACCOUNT || targetClass === '_User');
  return table?.fields.get('SortOrder')?.type === 'Number' && fields.length <= MAX_LOOKUP_FIELDS && !isOwned;
}

function linksOf({ fields }: TableSchema): [name: string, target: string][] {
  return [...fields.values()].flatMap(({ name, type, targetClass }): [string, string][] =>
    type === 'Pointer' && targetClass !== undefined && !isDefaultField(name) ? [[name, targetClass]] : [],
  );
}

const singular = (table: string): string => (table.endsWith('ies') ? `${table.slice(0, -3)}y` : table.replace(/s$/, ''));

/**
 * Returns the Pointers that link a new record to another record and, if that record has one, to its account, where people look for it.
 * @throws invalidArguments (107) if the table has no Pointer to the other; objectNotFound (101), permissionDenied (119) for the other record
 */
export async function linksTo(
  context: CrmContext,
  table: TableSchema,
  { table: target, objectId }: LinkTarget,
): Promise<JsonObject> {
  const targets = linkable(context, table);
  const field = targets.includes(target) ? linkField(table, target) : undefined;
  if (field === undefined)
    badArguments(`${table.className} cannot be linked to ${target.slice(0, 128)}`, {
      expected: `A record of ${targets.join(', ')}`,
    });
  const account = target === ACCOUNT ? undefined : linkField(table, ACCOUNT);
  const theirs = account === undefined ? undefined : accountFieldOf(context, target);
  const keys = ['objectId', ...(theirs === undefined ? [] : [theirs])];
  const row = await getRow(context, target, objectId, { keys });
  const accountId = theirs === undefined ? undefined : pointedAt(row[theirs]);
  return {
    [field]: pointer(target, objectId),
    ...(account !== undefined && accountId !== undefined && { [account]: pointer(ACCOUNT, accountId) }),
  };
}

/** Returns the field by which a table points to the account, if the caller sees it. */
function accountFieldOf(context: CrmContext, className: string): string | undefined {
  const table = tableIfAny(context, className);
  const field = table && linkField(table, ACCOUNT);
  return table && field !== undefined && visibleFields(context, table, [field]).length > 0 ? field : undefined;
}
