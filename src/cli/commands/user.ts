import type { Command } from 'commander';
import type { Actions, Print } from '../terminal/actions.ts';
import { oneLine } from '../terminal/format-error.ts';
import { addUser, newPassword } from '../users/add-user.ts';
import { blockUser, changeUser, type ListedUser, listUsers } from '../users/users.ts';

interface Of {
  system: string;
}
interface AddOptions extends Of {
  username: string;
  password?: string;
  email?: string;
  name?: string;
  role?: string[];
}

/** `user add|list|set-password|block|unblock`. */
export function addUserCommands(program: Command, { withRecords }: Actions, print: Print): void {
  const user = program.command('user').description('manage the users of a system');
  user
    .command('add')
    .description('add a user; prints the id and, if it was generated, the password')
    .requiredOption('--system <app-id>', 'application id of the system')
    .requiredOption('--username <name>', 'name to sign in with, by convention an e-mail address')
    .option('--password <password>', 'password (default: generated)')
    .option('--email <address>', 'e-mail address (default: the user name, if it is an address)')
    .option('--name <name>', 'display name')
    .option('--role <role...>', 'roles of the user; they have to exist')
    .action(async ({ system, username, password, email: address, name, role: roles = [] }: AddOptions) => {
      const used = password ?? newPassword();
      const email = address ?? (username.includes('@') ? username : undefined);
      const made = await withRecords(system, (context) => addUser(context, { username, password: used, email, name, roles }));
      print(`User id: ${made}`);
      if (password === undefined) print(`Password: ${used}`);
    });
  user
    .command('list')
    .description('list users: user name, id, active or blocked, last sign-in, display name')
    .requiredOption('--system <app-id>', 'application id of the system')
    .option('--json', 'print one JSON object a line')
    .action(async ({ system, json }: Of & { json?: true }) => {
      const listed = await withRecords(system, listUsers);
      for (const one of listed) print(json ? JSON.stringify(one) : rowOf(one));
    });
  user
    .command('set-password <username>')
    .description('set the password of a user and end all sessions of the user; prints the password if it was generated')
    .requiredOption('--system <app-id>', 'application id of the system')
    .option('--password <password>', 'password (default: generated)')
    .action(async (username: string, { system, password }: Of & { password?: string }) => {
      const used = password ?? newPassword();
      await withRecords(system, (context) => changeUser(context, username, { password: used }));
      print(password === undefined ? `Password: ${used}` : 'The password was set');
    });
  user
    .command('block <username>')
    .description('block a user and end all sessions of the user')
    .requiredOption('--system <app-id>', 'application id of the system')
    .option('--force', 'block the user even as the last active member of Admin')
    .action(async (username: string, { system, force = false }: Of & { force?: boolean }) => {
      await withRecords(system, (context) => blockUser(context, username, force));
      print('The user is blocked, and his sessions have ended');
    });
  user
    .command('unblock <username>')
    .description('unblock a user')
    .requiredOption('--system <app-id>', 'application id of the system')
    .action(async (username: string, { system }: Of) => {
      await withRecords(system, (context) => changeUser(context, username, { active: true }));
      print('The user may sign in again');
    });
}

function rowOf({ username, objectId, state, lastLogin, name }: ListedUser): string {
  return [oneLine(username), objectId, state, lastLogin ?? 'never', oneLine(name ?? '')].join('\t');
}
