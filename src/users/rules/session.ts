import { fail } from '../../errors/fail.ts';
import type { RuledFields, RuledWrite, TableRules } from '../../records/index.ts';

/** Fields that the service keeps; the session's owner cannot write them. */
const kept: ReadonlySet<string> = new Set(['user', 'expiresAt', 'createdWith', 'installationId', 'restricted']);

/** Sessions are only opened by signing in, signing up and POST sessions. Reference: users.md#sessions. */
export const sessionRules: TableRules = {
  async create(): Promise<RuledFields> {
    return fail('systemTable');
  },

  async update({ context, fields }: RuledWrite): Promise<RuledFields> {
    if (Object.hasOwn(fields, 'ACL')) fail('invalidFieldName', 'ACL');
    // A key may name a place inside a field.
    const names = Object.keys(fields).map((key) => key.split('.', 1)[0] as string);
    const name = context.principal.kind === 'user' ? names.find((one) => kept.has(one)) : undefined;
    return name === undefined ? { fields } : fail('fieldDenied', name, '_Session');
  },
};
