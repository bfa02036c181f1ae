import { authorize, isLimitedToUserFields } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { canonicalJson, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import { guardedFilter } from '../../query/index.ts';
import { type RuledFields, type RuledWrite, readRows, type TableRules } from '../../records/index.ts';
import { rootOf, type TableSchema, tableOf } from '../../schema/model.ts';
import { notificationFields } from '../../schema/system-tables.ts';
import { wirePointer } from '../../values/json/wire.ts';
import { holds } from '../accounts/user-filters.ts';

const className = '_Notification';

/** The message and addressee of a notification. Reference: system-tables.md#_notification. */
const messageFields: ReadonlySet<string> = new Set(notificationFields);

/**
 * Only keys, and the user who created a notification, change its message; not a user whose rights come from being the addressee: a changed text
 * could be passed on as the master's. Other fields, such as a mark that it was read, follow the permissions.
 * Reference: system-tables.md#_notification.
 */
export const notificationRules: TableRules = {
  async update({ context, objectId, fields }: RuledWrite): Promise<RuledFields> {
    const { store, principal } = context;
    // With the schema: without it the grant would include no row with copies of other records' values.
    const may = (table: TableSchema) => authorize(principal, 'update', table, store.schema());
    if (principal.kind !== 'user' || !Object.keys(fields).some((name) => messageFields.has(rootOf(name)))) return { fields };
    const table = tableOf(store.schema(), className);
    const grant = may(table);
    const [row] = await readRows<JsonObject>(store, {
      className,
      fields: [...messageFields, 'createdBy'],
      // A row that the caller cannot write counts as missing.
      filter: (present) => guardedFilter(may(present), holds(present, 'objectId', objectId)),
      limit: 1,
    });
    if (!row || (isBy(row, principal.userId) && !isLimitedToUserFields(principal, 'update', table))) return { fields };
    // Clients send whole records back.
    const kept = Object.entries(fields).filter(
      ([name, value]) => !messageFields.has(name) || grant.hiddenFields.has(name) || !isSame(row[name], value),
    );
    const changed = kept.find(([name]) => messageFields.has(rootOf(name)))?.[0];
    return changed === undefined ? { fields: Object.fromEntries(kept) } : fail('fieldDenied', rootOf(changed), className);
  },
};

const isBy = ({ createdBy }: JsonObject, userId: string): boolean => isSame(createdBy, wirePointer('_User', userId));

const isSame = (one: JsonValue | undefined, other: JsonValue): boolean => canonicalJson(one ?? null) === canonicalJson(other);
