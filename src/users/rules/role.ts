import { authorize } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonValue } from '../../kernel/json.ts';
import { guardedFilter } from '../../query/index.ts';
import { type RuledFields, type RuledWrite, readRows, type TableRules } from '../../records/index.ts';
import { keepAdministrator } from '../accounts/administrators.ts';
import { holds } from '../accounts/user-filters.ts';

/** Permissions contain these names, so they are restricted to plain ones. Reference: users.md#roles. */
const roleName = /^[0-9A-Za-z_\- ]{1,100}$/;

/**
 * Role names are literal keys in permissions and are never changed. `Admin` keeps an active member (`keepAdministrator`).
 * Reference: users.md#roles.
 */
export const roleRules: TableRules = {
  async create({ fields }: RuledWrite): Promise<RuledFields> {
    checkName(fields.name);
    return { fields };
  },

  async update(write: RuledWrite): Promise<RuledFields> {
    const { context, objectId, fields, earlier } = write;
    const kept = await keepAdministrator({ ...write, className: '_Role', action: 'update' });
    if (!Object.hasOwn(fields, 'name')) return { fields, ...kept };
    const created = earlier.findLast((one) => one.className === '_Role' && one.objectId === objectId && one.action === 'create');
    const [role] = created
      ? [created.fields]
      : await readRows<{ name?: string }>(context.store, {
          className: '_Role',
          fields: ['name'],
          // A role that the caller cannot write counts as missing: comparing the name would reveal it.
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
