import type { Command } from 'commander';
import { OperatorError } from '../../kernel/operator-error.ts';
import { isoText } from '../../kernel/time.ts';
import type { Store } from '../../storage/port.ts';
import { addAdministrator, administratorFrom } from '../administrator.ts';
import type { Actions, Print } from '../program.ts';

interface AddOptions {
  appId?: string;
  name?: string;
  masterKey?: string;
  adminEmail?: string;
  adminPassword?: string;
}

/** `system add|list|remove`. */
export function addSystemCommands(program: Command, { withAdministration }: Actions, print: Print): void {
  const system = program.command('system').description('the systems that the service serves');
  system
    .command('add')
    .description('add a system; prints its credentials, once')
    .option('--app-id <id>', 'its application id (default: a new one)')
    .option('--name <name>', 'a name for people (default: the application id)')
    .option('--master-key <key>', 'its master key (default: a new one)')
    .option('--admin-email <address>', 'makes an administrator, who signs in with it')
    .option('--admin-password <password>', 'his password (default: a new one)')
    .action(async ({ adminEmail, adminPassword, ...options }: AddOptions) => {
      if (adminEmail === undefined && adminPassword !== undefined)
        throw new OperatorError('--admin-password needs --admin-email');
      const admin = adminEmail === undefined ? undefined : administratorFrom(adminEmail, adminPassword, '--admin-password');
      const made = await withAdministration((administration, contextOf) => {
        const fill = admin && ((store: Store, appId: string) => addAdministrator(contextOf(store, appId), admin));
        return administration.addSystem(options, fill && { fill });
      }, true);
      print(`Application id: ${made.appId}`);
      print(`Master key: ${made.masterKey}`);
      print(`API key: ${made.apiKey}`);
      if (admin && adminPassword === undefined) print(`Password of the administrator: ${admin.password}`);
    });
  system
    .command('list')
    .description('list the systems: application id, time of creation, name')
    .action(async () => {
      const systems = await withAdministration((administration) => administration.systems());
      for (const { appId, createdAt, name } of systems) print(`${appId}\t${isoText(createdAt)}\t${name}`);
    });
  system
    .command('remove <app-id>')
    .description('remove a system with all its data')
    .action(async (appId: string) => {
      await withAdministration((administration) => administration.removeSystem(appId));
      print(`Removed ${appId}`);
    });
}
