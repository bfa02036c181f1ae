import { open } from 'node:fs/promises';
import { type Command, CommanderError } from 'commander';
import { OperatorError } from '../../kernel/operator-error.ts';
import { importRecords, type RejectedLine, readLines } from '../../transfer/index.ts';
import { forOperator, oneLine } from '../one-line.ts';
import type { Actions, Print } from '../program.ts';

interface ImportOptions {
  system: string;
  table: string;
  file: string;
}

/** Refused lines that are shown; a file of another form would else fill the terminal. */
const REJECTED_SHOWN = 20;
/** Bytes read at once. */
const CHUNK = 256 * 1024;
/** Milliseconds between two signs of progress. */
const PROGRESS_EVERY = 200;

/** `import`. */
export function addImportCommand(program: Command, { withRecords }: Actions, print: Print): void {
  program
    .command('import')
    .description('create a record for each line of an NDJSON file; exit code 1 where a line was rejected')
    .requiredOption('--system <app-id>', 'the system to import into')
    .requiredOption('--table <name>', 'the table; it is made where there is none')
    .requiredOption('--file <path>', 'one JSON object a line; - for the standard input')
    .action(async ({ system, table, file }: ImportOptions) => {
      const bytes = await openBytes(file);
      const rejected = await withRecords(system, async (context, company) => {
        const progress = new Progress(table);
        try {
          const result = await importRecords(context, table, readLines(bytes), company, progress);
          progress.clear();
          print(`imported ${result.imported} records into ${table}, ${result.rejected} lines rejected`);
          return result.rejected;
        } catch (error) {
          progress.broken();
          throw forOperator(error);
        }
      });
      if (rejected > 0) throw new CommanderError(1, 'import.rejected', 'lines were rejected');
    });
}

/** Opened before anything else is done: a file that is missing changes nothing. */
async function openBytes(file: string): Promise<AsyncIterable<Buffer>> {
  if (file === '-') return process.stdin;
  try {
    const handle = await open(file);
    if ((await handle.stat()).isDirectory()) throw new OperatorError(`EISDIR: ${file} is a directory`);
    return handle.createReadStream({ highWaterMark: CHUNK });
  } catch (error) {
    throw new OperatorError(`--file: ${(error as Error).message}`);
  }
}

/** Tells on stderr how an import goes: refused lines, and where a person watches, the count. */
class Progress {
  readonly #table: string;
  #rejected = 0;
  #imported = 0;
  #shownAt = 0;

  constructor(table: string) {
    this.#table = table;
  }

  rejected({ line, error }: RejectedLine): void {
    this.#rejected++;
    if (this.#rejected > REJECTED_SHOWN) return;
    this.clear();
    console.error(`line ${line}: ${error.code}: ${oneLine(error.message)}`);
    if (this.#rejected === REJECTED_SHOWN) console.error('further rejected lines are only counted');
  }

  progressed(imported: number): void {
    this.#imported = imported;
    const now = performance.now();
    if (!process.stderr.isTTY || now - this.#shownAt < PROGRESS_EVERY) return;
    this.#shownAt = now;
    process.stderr.write(`\r${imported} records`);
  }

  /** Takes the count off the terminal. */
  clear(): void {
    if (this.#shownAt > 0) process.stderr.write('\r\x1b[K');
    this.#shownAt = 0;
  }

  /** An import that broke off says what it has left behind. */
  broken(): void {
    this.clear();
    if (this.#imported > 0) console.error(`the import broke off after ${this.#imported} records, which stay in ${this.#table}`);
  }
}
