import type { Command } from 'commander';
import { typesOfSystem } from '../../openapi/index.ts';
import type { Actions, Print } from '../terminal/actions.ts';
import { forOperator } from '../terminal/format-error.ts';

interface CommandOptions {
  system: string;
  tables?: string;
  out?: string;
}

/** `types`. */
export function addDescriptionCommands(program: Command, { withRecords }: Actions, print: Print): void {
  describedCommand(program, 'types', 'print TypeScript types of the tables of a system').action(
    ({ system, tables }: CommandOptions) =>
      withRecords(system, async (context) => print(await forTerminal(() => typesOfSystem(context, namesIn(tables))))),
  );
}

const describedCommand = (program: Command, name: string, description: string): Command =>
  program
    .command(name)
    .description(description)
    .requiredOption('--system <app-id>', 'application id of the system')
    .option('--tables <names>', 'comma list of tables (default: all)');

const namesIn = (list = ''): string[] =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

async function forTerminal<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw forOperator(error);
  }
}
