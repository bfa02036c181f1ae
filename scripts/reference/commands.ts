import type { Command, Option } from 'commander';
import type { Actions } from '../../src/cli/index.ts';
import { commandsOf } from '../../src/cli/program.ts';
import { code, paragraphs, table, wrap } from './page.ts';

/** No action runs: the commands are only described. */
const noActions = {} as Actions;

/** The section of commands.md: a table of all commands, then each below a heading of its own. */
export function commandSections(): string[] {
  const program = commandsOf(noActions, () => {});
  const commands = [...leavesOf(program, '')];
  return [
    paragraphs(
      table(
        ['Command', 'What it does'],
        commands.map(({ path, command }) => [`[${code(path)}](#${path.replaceAll(' ', '-')})`, sentence(command.description())]),
      ),
      ...commands.map(({ path, command }) => describe(path, command)),
    ),
  ];
}

/** The commands that do something themselves. @param prefix names of the commands above, each with a space behind it */
function* leavesOf(parent: Command, prefix: string): Generator<{ path: string; command: Command }> {
  for (const command of parent.commands) {
    const path = `${prefix}${command.name()}`;
    if (command.commands.length === 0 || command.options.length > 0) yield { path, command };
    yield* leavesOf(command, `${path} `);
  }
}

function describe(path: string, command: Command): string {
  const args = command.registeredArguments.map((one) => (one.required ? ` <${one.name()}>` : ` [${one.name()}]`)).join('');
  const options = command.options.length > 0 ? ' [options]' : '';
  return paragraphs(
    `## ${path}`,
    `    record-service ${path}${options}${args}`,
    wrap(sentence(command.description())),
    command.options.length > 0 ? table(['Option', 'Default', 'Meaning'], command.options.map(cellsOf)) : '',
  );
}

function cellsOf(option: Option): string[] {
  const { flags, mandatory, defaultValue, description, argChoices } = option;
  const choices = argChoices ? ` One of ${argChoices.map(code).join(', ')}.` : '';
  const isGiven = defaultValue !== undefined && !option.negate;
  return [code(flags), mandatory ? 'required' : isGiven ? code(String(defaultValue)) : '', `${sentence(description)}${choices}`];
}

/** A description is a phrase without a capital and a full stop. Angle brackets would be taken for HTML. */
function sentence(text: string): string {
  const whole = /[.!?]$/.test(text) ? text : `${text}.`;
  return (whole[0] ?? '').toUpperCase() + whole.slice(1).replace(/[<>]/g, '\\$&');
}
