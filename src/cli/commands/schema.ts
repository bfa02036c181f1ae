import type { Command } from 'commander';
import { ServiceError } from '../../errors/fail.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import {
  applySchema,
  type Change,
  changeJson,
  diffSchema,
  exportSchema,
  faultOfDirectory,
  type Part,
  parts,
  readDirectory,
  type SchemaDiff,
  SnapshotFault,
  writeDirectory,
} from '../../transfer/index.ts';
import type { Actions, Print } from '../terminal/actions.ts';
import { counted } from '../terminal/counted.ts';
import { forOperator, oneLine, withRefusals } from '../terminal/format-error.ts';
import { namesIn } from '../terminal/names.ts';

interface ScopeOptions {
  system: string;
  parts?: string;
  only?: string;
  json?: true;
}

interface ExportOptions extends ScopeOptions {
  to: string;
}

interface DiffOptions extends ScopeOptions {
  from: string;
}

interface ApplyOptions extends DiffOptions {
  dryRun?: true;
  allowDestructive?: true;
  hash?: string;
}

/** `schema export|diff|apply`. */
export function addSchemaCommands(program: Command, { withRecords }: Actions, print: Print): void {
  const schema = program.command('schema').description('keep what a system is made of as files: tables, permissions, triggers …');
  const partsOption = `comma list of ${parts.join(', ')}`;
  schema
    .command('export')
    .description('write what a system is made of to a directory: a file for each table, and one for each other part')
    .requiredOption('--system <app-id>', 'application id of the system')
    .requiredOption('--to <dir>', 'directory; tables of an earlier export that are gone are removed from it')
    .option('--parts <names>', `${partsOption} (default: all)`)
    .action(({ system, to, parts: named }: ExportOptions) =>
      withRecords(system, async (context) => {
        const snapshot = await exportSchema(context, partsOf(named) ?? parts);
        print(`${counted(await writeDirectory(to, snapshot), 'file')} in ${to}`);
      }),
    );
  schema
    .command('diff')
    .description('compare a system with a directory, changing nothing; exit code 2 if they differ')
    .requiredOption('--system <app-id>', 'application id of the system')
    .requiredOption('--from <dir>', 'directory of an export')
    .option('--parts <names>', `${partsOption} (default: all that the directory has)`)
    .option('--only <tables>', 'comma list of tables: only these, with their permissions, labels, triggers and reports')
    .option('--json', 'print one JSON object')
    .action(async (options: DiffOptions) => {
      const diff = await explained(async () => {
        const snapshot = await readDirectory(options.from);
        return withRecords(options.system, (context) => diffSchema(context, snapshot, scopeOf(options)));
      });
      printDiff(diff, options, print);
      if (diff.changes.length > 0) throw withRefusals('the schema differs');
    });
  schema
    .command('apply')
    .description('make a system what a directory says, in one commit; prints the changes')
    .requiredOption('--system <app-id>', 'application id of the system')
    .requiredOption('--from <dir>', 'directory of an export')
    .option('--dry-run', 'print the changes and refusals, changing nothing')
    .option('--parts <names>', `${partsOption} (default: all that the directory has)`)
    .option('--only <tables>', 'comma list of tables: only these, with their permissions, labels, triggers and reports')
    .option('--allow-destructive', 'also changes that take tables, fields, roles, triggers, reports or flags away')
    .option('--hash <hash>', 'that of a diff as JSON: nothing is done if the system has changed since')
    .option('--json', 'print one JSON object')
    .action(async (options: ApplyOptions) => {
      const diff = await explained(async () => {
        const snapshot = await readDirectory(options.from);
        const { allowDestructive = false, dryRun = false, hash } = options;
        const how = { ...scopeOf(options), allowsDestructive: allowDestructive, isDryRun: dryRun, hash };
        return withRecords(options.system, async (context) => {
          try {
            return await applySchema(context, snapshot, how);
          } catch (error) {
            if (!(error instanceof ServiceError) || error.key !== 'destructiveChanges') throw error;
            printDiff(await diffSchema(context, snapshot, how), options, print);
            throw new OperatorError(`${oneLine(error.message)}; --allow-destructive allows them`);
          }
        });
      });
      printDiff(diff, options, print);
    });
}

/** Runs work on a directory; its errors become lines for the terminal. */
async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof SnapshotFault ? faultOfDirectory(error) : forOperator(error);
  }
}

/** @throws OperatorError for an unknown part */
function partsOf(list: string | undefined): Part[] | undefined {
  return list === undefined
    ? undefined
    : namesIn(list).map((name) => {
        const part = parts.find((one) => one === name);
        if (part === undefined) throw new OperatorError(`--parts: ${name} is none of ${parts.join(', ')}`);
        return part;
      });
}

const scopeOf = ({ parts: list, only }: ScopeOptions) => ({
  parts: partsOf(list),
  only: only === undefined ? undefined : namesIn(only),
});

/** Columns of the widest change that the mark of destructive ones stands behind. */
const MAX_COLUMNS = 80;

function printDiff({ hash, changes, notes }: SchemaDiff, { json }: ScopeOptions, print: Print): void {
  if (json) {
    print(JSON.stringify({ hash, changes: changes.map(changeJson), notes }));
    return;
  }
  const lines = changes.map(({ sign, text }) => `${sign} ${oneLine(text)}`);
  const columns = Math.min(MAX_COLUMNS, Math.max(0, ...lines.map(({ length }) => length)));
  for (const [index, line] of lines.entries()) print(changes[index]?.destructive ? `${line.padEnd(columns)}  DESTRUCTIVE` : line);
  for (const note of notes) print(`note: ${oneLine(note)}`);
  print(summaryOf(changes));
}

function summaryOf(changes: readonly Change[]): string {
  if (changes.length === 0) return 'no changes';
  return `${counted(changes.length, 'change')}, ${changes.filter(({ destructive }) => destructive).length} destructive`;
}
