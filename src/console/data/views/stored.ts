import type { CrmContext } from '../../../crm/context.ts';
import { callerId, userPointer } from '../../../crm/queries/owners.ts';
import { hasField, type Row } from '../../../crm/queries/records.ts';
import { REPORTS } from '../../../crm/reports/saved-report.ts';
import { pointedAt } from '../../../crm/wire/values.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import type { ColumnState, SavedView, ViewContent } from '../../protocol/protocol.ts';
import { readColumn } from './content.ts';

/** Fields of a report that views use. */
export const viewKeys = ['Name', 'table', 'keys', 'where', 'order', 'groupBy', 'OwnerId', 'createdBy', 'View', 'ACL'] as const;

/** ACL entry of a view that is shared with every reader of reports. */
const EVERYBODY = '*';
const ROLE = 'role:';

/** Converts a saved report to a view; `null` if it groups rows or has another form. */
export function viewOf(context: CrmContext, row: Row): SavedView | null {
  const part = (name: string): JsonValue => own(row, name) ?? null;
  const [table, where, order, groupBy] = [part('table'), part('where'), part('order'), part('groupBy')];
  const keys = part('keys') ?? [];
  if (typeof table !== 'string' || (where !== null && !isJsonObject(where))) return null;
  if (Array.isArray(groupBy) ? groupBy.length > 0 : groupBy !== null) return null;
  if (!Array.isArray(keys) || !keys.every((name) => typeof name === 'string')) return null;
  const name = part('Name');
  return {
    objectId: row.objectId,
    table,
    name: typeof name === 'string' ? name : '',
    where: where ?? {},
    order: typeof order === 'string' ? order : '',
    columns: columnsOf(keys as string[], part('View')),
    sharedWith: sharedWith(part('ACL')),
    isMine: ownerOf(row) === callerId(context),
  };
}

/** Returns the owner of a row. */
export const ownerOf = (row: JsonObject): string | undefined => pointedAt(row.OwnerId) ?? pointedAt(row.createdBy);

/** Returns the columns of the report with the state that the view stores for them. */
function columnsOf(keys: readonly string[], view: JsonValue): ColumnState[] {
  const states = isJsonObject(view) ? own(view, 'columns') : undefined;
  const columns = (Array.isArray(states) ? states : []).flatMap((state) => readColumn(state) ?? []);
  const byField = new Map(columns.map((column) => [column.field, column]));
  return keys.map((field) => byField.get(field) ?? { field });
}

function sharedWith(acl: JsonValue): string[] {
  const entries = isJsonObject(acl) ? Object.entries(acl) : [];
  if (entries.length === 0) return [EVERYBODY];
  const readers = entries.filter(([, rights]) => isJsonObject(rights) && own(rights, 'read') === true);
  return readers.flatMap(([name]) => {
    if (name === EVERYBODY) return [name];
    return name.startsWith(ROLE) ? [name.slice(ROLE.length)] : [];
  });
}

/** Returns the ACL of a view: its readers and owners. */
export function aclOf(owners: readonly string[], { sharedWith: readers }: ViewContent): JsonObject {
  const open = readers.map((name): [string, JsonObject] => [name === EVERYBODY ? name : `${ROLE}${name}`, { read: true }]);
  const own = owners.map((id): [string, JsonObject] => [id, { read: true, write: true }]);
  return Object.fromEntries([...open, ...own]);
}

/** Returns the fields of a view's row, without its ACL. Optional fields that the system lacks are omitted. */
export function fieldsOf(context: CrmContext, { name, where, order, columns, sharedWith: readers }: ViewContent): JsonObject {
  return {
    Name: name,
    keys: columns.map(({ field }) => field),
    where: Object.keys(where).length > 0 ? where : null,
    order: order === '' ? null : order,
    ...(hasField(context, REPORTS, 'Shared', 'Boolean') && { Shared: readers.length > 0 }),
    ...(hasField(context, REPORTS, 'View', 'Object') && { View: { columns: columns.map((column) => ({ ...column })) } }),
  };
}

/** Returns the additional fields of a new view. */
export const newFields = (context: CrmContext, table: string, owner: string): JsonObject => ({
  table,
  ...(hasField(context, REPORTS, 'OwnerId', 'Pointer') && { OwnerId: userPointer(owner) }),
});
