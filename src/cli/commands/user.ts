import type { Command } from 'commander';
import { addUser, newPassword } from '../add-user.ts';
import type { Actions, Print } from '../program.ts';

interface AddOptions {
  system: string;
  username: string;
  password?: string;
  email?: string;
  name?: string;
  role?: string[];
}

/** `user add`. */
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
}
