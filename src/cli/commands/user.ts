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
  const user = program.command('user').description('the users of a system');
  user
    .command('add')
    .description('add a user; prints his password, once, where none is given')
    .requiredOption('--system <app-id>', 'the system he is of')
    .requiredOption('--username <name>', 'what he signs in with, an e-mail address by convention')
    .option('--password <password>', 'his password (default: a new one)')
    .option('--email <address>', 'where his mail goes (default: the name, where that is an address)')
    .option('--name <name>', 'his name for people')
    .option('--role <role...>', 'roles that he has')
    .action(async ({ system, username, password, email: address, name, role: roles = [] }: AddOptions) => {
      const used = password ?? newPassword();
      const email = address ?? (username.includes('@') ? username : undefined);
      const made = await withRecords(system, (context) => addUser(context, { username, password: used, email, name, roles }));
      print(`User id: ${made}`);
      if (password === undefined) print(`Password: ${used}`);
    });
  user
    .command('list')
    .description('list the users: name to sign in with, id, active or blocked, last sign-in, name for people')
    .requiredOption('--system <app-id>', 'the system they are of')
    .option('--json', 'one JSON object a line')
    .action(async ({ system, json }: Of & { json?: true }) => {
      const listed = await withRecords(system, listUsers);
      for (const one of listed) print(json ? JSON.stringify(one) : rowOf(one));
    });
  user
    .command('set-password <username>')
    .description('give a user another password; his sessions end. Prints it, once, where none is given')
    .requiredOption('--system <app-id>', 'the system he is of')
    .option('--password <password>', 'his password (default: a new one)')
    .action(async (username: string, { system, password }: Of & { password?: string }) => {
      const used = password ?? newPassword();
      await withRecords(system, (context) => changeUser(context, username, { password: used }));
      print(password === undefined ? `Password: ${used}` : 'The password was set');
    });
  user
    .command('block <username>')
    .description('keep a user from signing in; his sessions end')
    .requiredOption('--system <app-id>', 'the system he is of')
    .option('--force', 'also the last active member of Admin')
    .action(async (username: string, { system, force = false }: Of & { force?: boolean }) => {
      await withRecords(system, (context) => blockUser(context, username, force));
      print('The user is blocked, and his sessions have ended');
    });
  user
    .command('unblock <username>')
    .description('let a user sign in again')
    .requiredOption('--system <app-id>', 'the system he is of')
    .action(async (username: string, { system }: Of) => {
      await withRecords(system, (context) => changeUser(context, username, { active: true }));
      print('The user may sign in again');
    });
}

function rowOf({ username, objectId, state, lastLogin, name }: ListedUser): string {
  return [oneLine(username), objectId, state, lastLogin ?? 'never', oneLine(name ?? '')].join('\t');
}
