import { ADMIN } from '../../access/index.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { RecordContext } from '../../records/index.ts';
import { meetsPolicy } from '../../users/index.ts';
import { addUser, newPassword } from './add-user.ts';

/** The administrator of a new system. */
export interface Administrator {
  /** Also the login name. */
  readonly email: string;
  readonly password: string;
}

/**
 * Returns an administrator to be created.
 * @param password generated if absent
 * @param label name of the password in error texts
 * @throws OperatorError if the password is too weak
 */
export function administratorFrom(email: string, password: string | undefined, label: string): Administrator {
  if (password !== undefined && !meetsPolicy(password))
    throw new OperatorError(
      `${label}: must have 8 characters or more, with a lower-case letter, an upper-case letter and a digit`,
    );
  return { email, password: password ?? newPassword() };
}

/** Creates the administrator with the role Admin. @throws OperatorError */
export async function addAdministrator(context: RecordContext, { email, password }: Administrator): Promise<void> {
  await addUser(context, { username: email, email, password, roles: [ADMIN] });
}
