import type { Filter } from '../../query/model/filter.ts';
import { fieldOf, type TableSchema } from '../../schema/model.ts';
import type { StoredValue } from '../../values/index.ts';

/** Filter of the records that have a value in a field. */
export function holds(table: TableSchema, field: string, value: StoredValue): Filter {
  return { kind: 'compare', field: fieldOf(table, field), op: 'eq', value };
}

/** Filter of users who are not blocked (system-tables.md#_user: `active`). */
export function notBlocked(users: TableSchema): Filter {
  const field = users.fields.get('active');
  if (field?.type !== 'Boolean') return { kind: 'always' };
  return { kind: 'not', item: { kind: 'compare', field, op: 'eq', value: false } };
}
