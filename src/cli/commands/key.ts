import type { Command } from 'commander';
import { isoText } from '../../kernel/time.ts';
import type { Actions, Print } from '../terminal/actions.ts';
import { warnOfShort } from '../terminal/format-error.ts';

interface Of {
  system: string;
}
interface Named extends Of {
  name: string;
}
interface AddOptions extends Named {
  key?: string;
}

/** `key add|list|revoke`. */
export function addKeyCommands(program: Command, { withAdministration }: Actions, print: Print): void {
  const key = program.command('key').description('manage the API keys of a system');
  key
    .command('add')
    .description('add an API key; prints it once')
    .requiredOption('--system <app-id>', 'application id of the system')
    .requiredOption('--name <name>', 'name of the key')
    .option('--key <key>', 'the key (default: generated)')
    .action(async (options: AddOptions) => {
      const made = await withAdministration((administration) => administration.addKey(options.system, options.name, options.key));
      print(`API key: ${made}`);
      warnOfShort('The key', options.key);
    });
  key
    .command('list')
    .description('list API keys: name, time of creation, time of last use (up to a minute old)')
    .requiredOption('--system <app-id>', 'application id of the system')
    .option('--json', 'print one JSON object a line')
    .action(async ({ system, json }: Of & { json?: true }) => {
      const keys = await withAdministration((administration) => administration.keys(system));
      for (const { name, createdAt, lastUsedAt } of keys) {
        const row = { name, createdAt: isoText(createdAt), lastUsedAt: lastUsedAt === null ? null : isoText(lastUsedAt) };
        print(json ? JSON.stringify(row) : [row.name, row.createdAt, row.lastUsedAt ?? 'never'].join('\t'));
      }
    });
  key
    .command('revoke')
    .description('revoke an API key; it is refused from the next request on')
    .requiredOption('--system <app-id>', 'application id of the system')
    .requiredOption('--name <name>', 'name of the key')
    .action(async (options: Named) => {
      await withAdministration((administration) => administration.revokeKey(options.system, options.name));
      print(`Revoked ${options.name}`);
    });
}
