import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Command } from 'commander';
import { OperatorError } from '../../kernel/operator-error.ts';
import { ExportParameters, exportFormats, exportRecords } from '../../transfer/index.ts';
import type { Actions, Print } from '../terminal/actions.ts';
import { forOperator } from '../terminal/format-error.ts';
import { addProgressOptions, type ProgressOptions, ProgressReporter } from '../terminal/progress.ts';

interface CommandOptions extends ProgressOptions {
  system: string;
  table: string;
  to: string;
  format: string;
  where?: string;
  keys?: string;
  include?: string;
  order?: string;
  bom?: true;
  raw?: true;
}

/** `export`. */
export function addExportCommand(program: Command, { withRecords }: Actions, print: Print): void {
  addProgressOptions(program.command('export'))
    .description('write the records of a table to a file')
    .requiredOption('--system <app-id>', 'application id of the system')
    .requiredOption('--table <name>', 'table')
    .requiredOption('--format <format>', `one of ${exportFormats.join(', ')}`)
    .requiredOption('--to <path>', 'file to write, replaced if it exists; - for standard output')
    .option('--where <json>', 'only records that match, as in a REST query')
    .option('--keys <names>', 'comma list of fields; in CSV also the order of the columns')
    .option('--include <names>', 'comma list of Pointer fields to expand, or of their fields: AccountId.Name')
    .option('--order <names>', 'comma list of fields to sort by, with - for descending (default: order of creation)')
    .option('--bom', 'begin CSV with a byte order mark, so that Excel reads it as UTF-8')
    .option('--raw', "write CSV cells that look like a formula without a ' in front of them")
    .action((options: CommandOptions) =>
      withRecords(options.system, async (context) => {
        const { table, to, quiet } = options;
        const reporter = new ProgressReporter(options);
        try {
          const pieces = await exportRecords(context, table, new ExportParameters(parametersOf(options)));
          const target = await openTarget(to);
          try {
            for await (const piece of pieces) {
              await target.write(piece);
              reporter.progress({ what: table, done: pieces.count, unit: 'records', share: pieces.share });
            }
            await target.finish();
          } catch (error) {
            await pieces.return?.();
            await target.discard();
            throw error;
          }
          reporter.clear();
          const line = options.json
            ? JSON.stringify({ records: pieces.count })
            : `${pieces.count} ${pieces.count === 1 ? 'record' : 'records'}`;
          // Standard output carries the file itself.
          if (to !== '-') print(line);
          else if (!quiet) reporter.note(line, { records: pieces.count });
        } catch (error) {
          reporter.clear();
          throw forOperator(error);
        }
      }),
    );
}

const parametersOf = ({ format, where, keys, include, order, bom, raw }: CommandOptions) =>
  new Map(Object.entries({ format, where, keys, include, order, bom, raw }).filter(([, value]) => value !== undefined)) as Map<
    string,
    string | boolean
  >;

/** Destination of an export. */
interface Target {
  write(text: string): Promise<void>;
  /** Completes the file. */
  finish(): Promise<void>;
  /** Discards what was written. */
  discard(): Promise<void>;
}

/** Opens the destination. @throws OperatorError if it cannot be written */
async function openTarget(to: string): Promise<Target> {
  try {
    if (to === '-') return toStream(process.stdout);
    const stats = await stat(to).catch(() => null);
    if (stats?.isDirectory()) throw new Error(`EISDIR: ${to} is a directory`);
    if (stats && !stats.isFile()) return toStream((await open(to, 'w')).createWriteStream());
    return await toFile(to);
  } catch (error) {
    throw unwritten(error);
  }
}

/** Writes to a temporary file and renames it at the end, so that a partial file is never taken for a complete one. */
async function toFile(path: string): Promise<Target> {
  const part = join(dirname(path), `.${basename(path)}.${process.pid}.part`);
  const file: FileHandle = await open(part, 'w', 0o600);
  return {
    async write(text) {
      await file.appendFile(text).catch(fail);
    },
    async finish() {
      await file.sync().catch(fail);
      await file.close();
      await rename(part, path).catch(fail);
    },
    async discard() {
      await file.close();
      await rm(part, { force: true });
    },
  };
}

function toStream(stream: Writable): Target {
  let fault: Error | undefined;
  stream.on('error', (error) => {
    fault = error;
  });
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        stream.write(text, (error) => (error ? reject(unwritten(error)) : resolve()));
      }),
    async finish() {
      if (fault) throw unwritten(fault);
      if (stream === process.stdout) return;
      stream.end();
      await finished(stream).catch(fail);
    },
    async discard() {},
  };
}

const unwritten = (error: unknown) => new OperatorError(`--to: ${(error as Error).message}`);

function fail(error: unknown): never {
  throw unwritten(error);
}
