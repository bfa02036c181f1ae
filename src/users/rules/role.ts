import { authorize } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonValue } from '../../kernel/json.ts';
import { guardedFilter } from '../../query/index.ts';
import { type RuledFields, type RuledWrite, readRows, type TableRules } from '../../records/index.ts';
import { keepAdministrator } from '../accounts/administrators.ts';
import { holds } from '../accounts/user-filters.ts';

/** Permissions are written with these names, so they are plain. SPEC "`_Role`": names in English. */
const roleName = /^[0-9A-Za-z_\- ]{1,100}$/;

/**
 * SPEC "Main business tables": role names are literal keys in permissions and are never renamed. `Admin` keeps a member who may sign in
 * (`keepAdministrator`).
 */
export const roleRules: TableRules = {
  async create({ fields }: RuledWrite): Promise<RuledFields> {
    checkName(fields.name);
    return { fields };
  },

  async update(write: RuledWrite): Promise<RuledFields> {
    const { context, objectId, fields } = write;
    const kept = await keepAdministrator({ ...write, className: '_Role', action: 'update' });
    if (!Object.hasOwn(fields, 'name')) return { fields, ...kept };
    const [role] = await readRows<{ name?: string }>(context.store, {
      className: '_Role',
      fields: ['name'],
      // A role that the caller cannot write is none: whether its name is another would tell what it is.
      filter: (table) => guardedFilter(authorize(context.principal, 'update', table), holds(table, 'objectId', objectId)),
      limit: 1,
    });
    if (role && role.name !== fields.name) fail('fieldCannotBeChanged', 'name');
    return { fields, ...kept };
  },

  async remove(write: RuledWrite): Promise<RuledFields> {
    const kept = await keepAdministrator({ ...write, className: '_Role', action: 'remove' });
    return { fields: {}, ...kept };
  },
};

/** @throws invalidRoleName (139) */
function checkName(name: JsonValue | undefined): void {
  if (typeof name !== 'string' || !roleName.test(name)) fail('invalidRoleName');
}
