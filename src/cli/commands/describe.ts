import { rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Command } from 'commander';
import { OperatorError } from '../../kernel/operator-error.ts';
import { typesOfSystem } from '../../openapi/index.ts';
import type { Actions, Print } from '../terminal/actions.ts';
import { forOperator } from '../terminal/format-error.ts';
import { namesIn } from '../terminal/names.ts';

interface CommandOptions {
  system: string;
  tables?: string;
  out?: string;
}

/** `openapi`, `types`. */
export function addDescriptionCommands(program: Command, { describe, withRecords }: Actions, print: Print): void {
  describedCommand(program, 'openapi', 'print the OpenAPI description of a system, as openapi.json has it').action(
    ({ system, tables = '', out }: CommandOptions) => written(out, print, () => describe(system, namesIn(tables))),
  );
  describedCommand(program, 'types', 'print TypeScript types of the tables of a system').action(
    ({ system, tables = '', out }: CommandOptions) =>
      written(out, print, () => withRecords(system, (context) => typesOfSystem(context, namesIn(tables)))),
  );
}

const describedCommand = (program: Command, name: string, description: string): Command =>
  program
    .command(name)
    .description(description)
    .requiredOption('--system <app-id>', 'application id of the system')
    .option('--tables <names>', 'comma list of tables (default: all)')
    .option('--out <file>', 'file to write, replaced if it exists (default: standard output)');

/** Prints a text, or writes it to a file, which is replaced as a whole. */
async function written(out: string | undefined, print: Print, make: () => Promise<string>): Promise<void> {
  const text = await make().catch((error: unknown) => {
    throw forOperator(error);
  });
  if (out === undefined) return print(text.trimEnd());
  const part = join(dirname(out), `.${basename(out)}.${process.pid}.part`);
  try {
    await writeFile(part, `${text.trimEnd()}\n`);
    await rename(part, out);
  } catch (error) {
    await rm(part, { force: true });
    throw new OperatorError(`--out: ${(error as Error).message}`);
  }
}
