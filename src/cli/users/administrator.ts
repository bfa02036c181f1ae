import { ADMIN } from '../../access/index.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { RecordContext } from '../../records/index.ts';
import { meetsPolicy } from '../../users/index.ts';
import { addUser, newPassword } from './add-user.ts';

/** Who administers a new system. */
export interface Administrator {
  /** His name, too. */
  readonly email: string;
  readonly password: string;
}

/**
 * An administrator to be.
 * @param password a new one is made where it is left out
 * @param label what the password is called where it is refused
 * @throws OperatorError for a password that is too weak
 */
export function administratorFrom(email: string, password: string | undefined, label: string): Administrator {
  if (password !== undefined && !meetsPolicy(password))
    throw new OperatorError(
      `${label}: must have 8 characters or more, with a lower-case letter, an upper-case letter and a digit`,
    );
  return { email, password: password ?? newPassword() };
}

/** Makes the administrator, with the role that may do everything. @throws OperatorError */
export async function addAdministrator(context: RecordContext, { email, password }: Administrator): Promise<void> {
  await addUser(context, { username: email, email, password, roles: [ADMIN] });
}
