import { Command, CommanderError } from 'commander';
import { serviceVersion } from '../kernel/version.ts';
import { addBackupCommands } from './commands/backup.ts';
import { addCheckCommand } from './commands/check.ts';
import { addDescriptionCommands } from './commands/describe.ts';
import { addExportCommand } from './commands/export.ts';
import { addFilesCommands } from './commands/files.ts';
import { addKeyCommands } from './commands/key.ts';
import { addMigrateCommands } from './commands/migrate.ts';
import { addMoveCommand } from './commands/move.ts';
import { addRestoreCommand } from './commands/restore.ts';
import { addSchemaCommands } from './commands/schema.ts';
import { addSystemCommands } from './commands/system.ts';
import { addUserCommands } from './commands/user.ts';
import { addImportCommand } from './import/import.ts';
import type { Actions, Print } from './terminal/actions.ts';

/**
 * Runs the command line. Reference: commands.md#exit-codes.
 * @param args arguments after the program's name
 * @returns the exit code for wrong usage and for help; errors of actions are passed on
 */
export async function runProgram(args: readonly string[], actions: Actions, print: Print): Promise<number> {
  const program = commandsOf(actions, print);
  const spelt = withoutHelpWord(program, args);
  try {
    await program.parseAsync(spelt, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    throw error;
  }
}

/** The program with all sub-commands. */
export function commandsOf(actions: Actions, print: Print): Command {
  const program = new Command('record-service').description('A table-oriented record store, served over REST.');
  // Must precede the sub-commands, which inherit these settings.
  program
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(inOneLine(text)) });
  program.version(serviceVersion(), '--version', 'print the version');
  program.helpCommand('help [command]', 'show what a command does');
  program
    .command('start')
    .description('serve until SIGTERM or SIGINT')
    .action(() => actions.start());
  addSystemCommands(program, actions, print);
  addKeyCommands(program, actions, print);
  addUserCommands(program, actions, print);
  addSchemaCommands(program, actions, print);
  addDescriptionCommands(program, actions, print);
  addExportCommand(program, actions, print);
  addImportCommand(program, actions, print);
  addFilesCommands(program, actions, print);
  addBackupCommands(program, actions, print);
  addMigrateCommands(program, actions, print);
  addRestoreCommand(program, actions, print);
  addMoveCommand(program, actions, print);
  addCheckCommand(program, actions, print);
  return program;
}

/** Converts `help system add` and `system help add` to `system add --help`. An unknown word stays last, so that its error is reported. */
function withoutHelpWord(program: Command, args: readonly string[]): readonly string[] {
  const words: string[] = [];
  let group = program;
  let isHelp = args.includes('--help') || args.includes('-h');
  for (const arg of args) {
    if (group.commands.length === 0 || arg.startsWith('-')) break;
    if (arg === 'help') {
      isHelp = true;
      continue;
    }
    words.push(arg);
    const found = group.commands.find((command) => command.name() === arg);
    if (!found) return words;
    group = found;
  }
  return isHelp ? [...words, '--help'] : args;
}

/** Formats a usage error as one line. */
function inOneLine(text: string): string {
  const wrong = text
    .trim()
    .replace(/^error: /, '')
    .replace(/\.$/, '')
    .replaceAll(/\s*\n\s*/g, ' ');
  return `record-service: ${wrong}; record-service help shows what there is\n`;
}
