import { authorize, mayOnlyWhereHeld } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { canonicalJson, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import { guardedFilter } from '../../query/index.ts';
import { type RuledFields, type RuledWrite, readRows, type TableRules } from '../../records/index.ts';
import { rootOf, type TableSchema, tableOf } from '../../schema/model.ts';
import { notificationFields } from '../../schema/system-tables.ts';
import { wirePointer } from '../../values/json/wire.ts';
import { holds } from '../accounts/user-filters.ts';

const className = '_Notification';

/** What a notification says, and to whom (SPEC "Other system tables"). */
const told: ReadonlySet<string> = new Set(notificationFields);

/**
 * What a notification says is changed by keys, and by the user who made it, unless it is his only as the one who is notified: handed on, it
 * would else be a word of the master's. Other fields, a mark that it was read, are written as the permissions say.
 */
export const notificationRules: TableRules = {
  async update({ context, objectId, fields }: RuledWrite): Promise<RuledFields> {
    const { store, principal } = context;
    // By the schema: without it no row with values of other records would be found.
    const may = (table: TableSchema) => authorize(principal, 'update', table, store.schema());
    if (principal.kind !== 'user' || !Object.keys(fields).some((name) => told.has(rootOf(name)))) return { fields };
    const table = tableOf(store.schema(), className);
    const grant = may(table);
    const [row] = await readRows<JsonObject>(store, {
      className,
      fields: [...told, 'createdBy'],
      // One that the caller cannot write is none.
      filter: (present) => guardedFilter(may(present), holds(present, 'objectId', objectId)),
      limit: 1,
    });
    if (!row || (isBy(row, principal.userId) && !mayOnlyWhereHeld(principal, 'update', table))) return { fields };
    // Clients send whole records back.
    const kept = Object.entries(fields).filter(
      ([name, value]) => !told.has(name) || grant.hiddenFields.has(name) || !isSame(row[name], value),
    );
    const changed = kept.find(([name]) => told.has(rootOf(name)))?.[0];
    return changed === undefined ? { fields: Object.fromEntries(kept) } : fail('fieldDenied', rootOf(changed), className);
  },
};

const isBy = ({ createdBy }: JsonObject, userId: string): boolean => isSame(createdBy, wirePointer('_User', userId));

const isSame = (one: JsonValue | undefined, other: JsonValue): boolean => canonicalJson(one ?? null) === canonicalJson(other);
