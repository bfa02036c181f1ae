import { isAdministrator } from '../../access/index.ts';
import type { CrmContext } from '../../crm/context.ts';
import { fail } from '../../errors/fail.ts';
import { readRow } from '../../records/index.ts';
import type { ApiEndpoint } from '../protocol/api-endpoint.ts';
import type { Me } from '../protocol/protocol.ts';

/** Returns the signed-in user. @throws invalidSession (209) if the caller is no user or was deleted */
export async function meOf({ store, principal }: Pick<CrmContext, 'store' | 'principal'>): Promise<Me> {
  if (principal.kind !== 'user') return fail('invalidSession');
  const { userId, roles } = principal;
  const row = await readRow<{ username?: string; name?: string }>(store, '_User', fields, userId);
  if (!row) return fail('invalidSession');
  const { username = '', name } = row;
  return { objectId: userId, username, name: name || username, roles, isAdministrator: isAdministrator(principal) };
}

const fields = ['username', 'name'] as const;

export const getMe: ApiEndpoint = { method: 'GET', path: '/me', run: (context) => meOf(context) };
