import { isTimeout } from '../../../errors/fail.ts';
import type { Filter } from '../../../query/model/filter.ts';
import { countRows, type OwnQuery } from '../../../records/index.ts';
import type { TableSchema } from '../../../schema/model.ts';
import type { Store } from '../../../storage/port.ts';
import type { Delta, TableDelta } from './delta.ts';
import type { Counted, Counts } from './describe.ts';

/** Counts the records that destructive changes concern. */
export async function countConcerned(store: Store, { tables, gone, rows }: Delta): Promise<Counts> {
  const values = new Map<string, Counted | 'members'>();
  const records = new Map<string, Counted>();
  const members = new Map<string, Counted>();
  for (const delta of tables)
    for (const name of concerned(delta)) {
      const { className } = delta;
      const isRelation = store.schema().tables.get(className)?.fields.get(name)?.type === 'Relation';
      const filter = (table: TableSchema) => holding(table, name);
      values.set(`${className}.${name}`, isRelation ? 'members' : await counted(store, { className, filter }));
    }
  for (const className of gone) records.set(className, await counted(store, { className, filter: () => ({ kind: 'always' }) }));
  for (const row of rows)
    if (row.op === 'remove' && row.kind.part === 'roles')
      members.set(row.found.objectId, await countMembers(store, row.found.objectId));
  return {
    values: (className, field) => values.get(`${className}.${field}`) ?? null,
    records: (className) => records.get(className) ?? null,
    members: (roleId) => members.get(roleId) ?? null,
  };
}

/** A count is for information: one that takes too long does not end the comparison. */
async function counted(store: Store, query: Pick<OwnQuery, 'className' | 'filter'>): Promise<Counted> {
  try {
    return await countRows(store, query);
  } catch (error) {
    if (isTimeout(error)) return null;
    throw error;
  }
}

/** Returns the present names of the fields whose values go. */
function concerned({ dropped, retyped, renamed }: TableDelta): string[] {
  const former = new Map(renamed.map(([from, to]) => [to, from]));
  return [...dropped, ...retyped.map(({ name }) => former.get(name) ?? name)];
}

function holding({ fields }: TableSchema, name: string): Filter | null {
  const field = fields.get(name);
  return field ? { kind: 'exists', ref: { field, path: [] } } : null;
}

/** Returns how many users a role has by itself. */
function countMembers(store: Store, roleId: string): Promise<Counted> {
  const roles = store.schema().tables.get('_Role');
  const relation = roles?.fields.get('users');
  if (!roles || relation?.type !== 'Relation') return Promise.resolve(0);
  const owner = { table: roles, filter: { kind: 'always' } } as const;
  return counted(store, { className: '_User', filter: () => ({ kind: 'relatedTo', relation, ownerId: roleId, owner }) });
}
