import { Command, CommanderError } from 'commander';
import type { FileSystem, Files } from '../files/index.ts';
import { serviceVersion } from '../kernel/version.ts';
import type { RecordContext } from '../records/index.ts';
import type { Administration } from '../systems/index.ts';
import type { Company, MoveEvents, MoveResult } from '../transfer/index.ts';
import type { ContextOf } from './administrator.ts';
import { addCheckCommand } from './commands/check.ts';
import { addFilesCommands } from './commands/files.ts';
import { addImportCommand } from './commands/import.ts';
import { addKeyCommands } from './commands/key.ts';
import { addMoveCommand } from './commands/move.ts';
import { addSystemCommands } from './commands/system.ts';
import { addUserCommands } from './commands/user.ts';

/** What the sub-commands do; the program only parses and prints. */
export interface Actions {
  /** Serves until the process is told to end. */
  start(): Promise<void>;
  /** Opens what is kept in DATA_DIR for the time of some work. */
  /** @param use what it may make: nothing where it is left out; all, as the first to use DATA_DIR; a registry beside stores that are there */
  withAdministration<T>(
    work: (administration: Administration, contextOf: ContextOf) => T | Promise<T>,
    use?: 'used' | 'first' | 'adopting',
  ): Promise<T>;
  /**
   * Opens a system's records, as its master, for the time of some work, which may ask who else works on them at the same time.
   * @throws OperatorError where there is no such system
   */
  withRecords<T>(appId: string, work: (context: RecordContext, company: () => Company) => Promise<T>): Promise<T>;
  /**
   * Opens the files of a system, or of every one in turn, for the time of some work.
   * @param appId left out: every one
   * @returns of every one: those that are refused, or not available now, and why; the others were worked with
   * @throws OperatorError where there is no such system, or the files cannot be reached
   */
  withFiles(
    appId: string | undefined,
    work: (files: Files, system: FileSystem, isOnly: boolean) => Promise<void>,
  ): Promise<ReadonlyMap<string, unknown>>;
  /** Asks who sits at the terminal; `null` where nobody does. */
  ask(question: string): Promise<string | null>;
  /** Copies all systems between the embedded store and PostgreSQL. @throws OperatorError */
  move(to: 'postgres' | 'embedded', events: MoveEvents): Promise<MoveResult>;
  /** Says that the systems of the configured store are served from there again. @throws OperatorError where they were not moved */
  undoMoveMark(): Promise<void>;
}

/** Where a sub-command's result goes: stdout, one line each. */
export type Print = (line: string) => void;

/**
 * Runs `record-service` (CONTRACT "Running").
 * @param args the arguments after the program's name
 * @returns the exit code for wrong usage and for help; what an action throws is passed on
 */
export async function runProgram(args: readonly string[], actions: Actions, print: Print): Promise<number> {
  let spelt = args;
  const program = new Command('record-service').description('A table-oriented record store, served over REST.');
  // Before the sub-commands are added, which take it over.
  program.exitOverride().configureOutput({ outputError: (text, write) => write(inOneLine(text, spelt)) });
  program.version(serviceVersion(), '--version', 'print the version');
  program.helpCommand('help [command]', 'show what a command does');
  program.addHelpText('after', `\nNot part of it yet: ${[...comingCommands].join(', ')}.`);
  program
    .command('start')
    .description('serve until told to end')
    .action(() => actions.start());
  addSystemCommands(program, actions, print);
  addKeyCommands(program, actions, print);
  addUserCommands(program, actions, print);
  addImportCommand(program, actions, print);
  addFilesCommands(program, actions, print);
  addMoveCommand(program, actions, print);
  addCheckCommand(program, actions, print);
  spelt = withoutHelpWord(program, args);
  try {
    await program.parseAsync(spelt, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    throw error;
  }
}

/** Sub-commands of CONTRACT "Running" that are still to come. */
const comingCommands: ReadonlySet<string> = new Set(['backup', 'restore', 'export']);

/** `help system add` and `system help add` as `system add --help`. A word that is no command stays the last: it is told of, help or not. */
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

/** What is wrong with the arguments, the nearest name and where help is, in one line. */
function inOneLine(text: string, args: readonly string[]): string {
  const [command = ''] = args;
  if (comingCommands.has(command)) return `record-service: ${command} is not part of it yet\n`;
  const wrong = text
    .trim()
    .replace(/^error: /, '')
    .replace(/\.$/, '')
    .replaceAll(/\s*\n\s*/g, ' ');
  return `record-service: ${wrong}; record-service help shows what there is\n`;
}
