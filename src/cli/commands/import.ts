import { appendFile, mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { activeTriggers } from '../../automation/definition/trigger-cache.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { RecordContext } from '../../records/index.ts';
import { importRecords, type RejectedLine, readRows, refuseImport, refuseNewColumns } from '../../transfer/index.ts';
import type { Actions, Print } from '../terminal/actions.ts';
import { forOperator, oneLine, withRefusals } from '../terminal/format-error.ts';
import { addTellOptions, Teller, type TellOptions } from '../terminal/progress.ts';

interface ImportOptions extends TellOptions {
  system: string;
  table: string;
  file: string;
  newFields?: true;
  keepTimes?: true;
  skipTriggers?: true;
  skipTimeline?: true;
  rejected?: string;
}

/** Refused rows that are shown; a file of another form would else fill the terminal. */
const MAX_REJECTED_SHOWN = 20;
/** Bytes read at once. */
const CHUNK_BYTES = 256 * 1024;

/** `import`. */
export function addImportCommand(program: Command, { withRecords, ask }: Actions, print: Print): void {
  addTellOptions(program.command('import'))
    .description('create a record for each row of a file; exit code 2 where rows were rejected')
    .requiredOption('--system <app-id>', 'the system to import into')
    .requiredOption('--table <name>', 'the table')
    .requiredOption(
      '--file <path>',
      'one JSON object a line, or an export of Parse ({"results":[...]}); - for the standard input',
    )
    .option('--new-fields', 'make fields that the table lacks, and the table where there is none')
    .option('--keep-times', 'take over createdAt, updatedAt and createdBy of the rows')
    .option('--skip-triggers', 'run no triggers for the records')
    .option('--skip-timeline', 'write nothing about them to the timeline')
    .option('--rejected <path>', 'write the rejected rows here, one JSON object a line: line, code, error, row')
    .action(async (options: ImportOptions) => {
      const source = await openSource(options.file);
      try {
        const rejected = await withRecords(options.system, async (context, company) => {
          try {
            return await run(context, source, options, company, { ask, print });
          } catch (error) {
            throw forOperator(error);
          }
        });
        if (rejected > 0) throw withRefusals('rows were rejected');
      } finally {
        await source.close();
      }
    });
}

/** @returns how many rows were rejected */
async function run(
  context: RecordContext,
  source: Source,
  options: ImportOptions,
  company: Parameters<typeof importRecords>[4],
  { ask, print }: { ask: Actions['ask']; print: Print },
): Promise<number> {
  const { table, keepTimes = false, skipTriggers = false, skipTimeline = false } = options;
  refuseImport(context, table);
  const schema = context.store.schema();
  const hasResults = schema.tables.get(table)?.fields.has('results') === true;
  const teller = new Teller(options);
  try {
    if (!options.newFields) {
      await source.keep((done) => teller.progress({ what: 'standard input', done, unit: 'bytes' }));
      teller.begin();
      const looked = (done: number) => teller.progress({ what: table, done, unit: 'rows looked at', share: source.share() });
      await refuseNewColumns(schema, table, counted((await readRows(source.read(), hasResults)).blocks, looked));
    }
  } finally {
    teller.clear();
  }
  if (!skipTriggers) await warnOfTriggers(context, table, teller, ask);
  const { unit, blocks } = await readRows(source.read(), hasResults);
  const rejects = await Rejects.open(teller, unit, options.rejected, options.file);
  let done = 0;
  teller.begin();
  const importing = importRecords(context, table, blocks, { keepTimes, skipTriggers, skipTimeline }, company, {
    rejected: (line) => rejects.take(line),
    progressed(created) {
      done = created;
      teller.progress({ what: table, done: created + rejects.count, unit: 'rows', share: source.share() });
    },
  });
  const { created, rejected, leftOut } = await importing.catch((error) => {
    teller.clear();
    const text = `the import broke off after ${done} records, which stay in ${table}`;
    if (done > 0) teller.note(text, { brokeOff: table, created: done });
    throw error;
  });
  teller.clear();
  const updated = 0;
  for (const [field, count] of leftOut) {
    const text = `${field} of ${count} ${count === 1 ? unit : `${unit}s`} was not taken over; --keep-times takes it over`;
    teller.note(text, { notTakenOver: field, rows: count });
  }
  const rows = created + updated + rejected;
  if (options.json) print(JSON.stringify({ rows, created, updated, rejected }));
  else print(`${rows} rows: ${created} created, ${updated} updated, ${rejected} rejected`);
  await rejects.written();
  return rejected;
}

/** The same blocks. @param passed told of the rows so far, when a block was dealt with */
async function* counted<T>(blocks: AsyncIterable<readonly T[]>, passed: (rows: number) => void): AsyncGenerator<readonly T[]> {
  let rows = 0;
  for await (const block of blocks) {
    yield block;
    rows += block.length;
    passed(rows);
  }
}

/** Says which triggers the records would run, and asks where somebody is there to answer. @throws OperatorError where he says no */
async function warnOfTriggers({ store }: RecordContext, table: string, teller: Teller, ask: Actions['ask']): Promise<void> {
  await activeTriggers.ready(store);
  const firing = activeTriggers.of(store, table).filter(({ events }) => events.has('create'));
  if (firing.length === 0) return;
  const triggers = firing.map(({ id, name, actions }) => ({ id, name, actions: actions.map(({ type }) => type) }));
  const told = triggers.map(({ id, name, actions }) => `${JSON.stringify(oneLine(name ?? id))} (${actions.join(', ')})`);
  teller.note(`each record runs these triggers: ${told.join(', ')}; --skip-triggers runs none`, { triggers });
  const answer = await ask('Go on? [y/N] ');
  if (answer !== null && !/^y(es)?$/i.test(answer.trim())) throw new OperatorError('nothing was imported');
}

/** The bytes of a file; those of the standard input can be read once, unless they are kept. */
class Source {
  #path: string | null;
  #directory: string | null = null;
  #size = 0;
  #read = 0;

  constructor(path: string | null, size: number) {
    this.#path = path;
    this.#size = size;
  }

  /** Lets the bytes be read more than once. @param kept told of the bytes so far, where they have to be kept for it */
  async keep(kept: (bytes: number) => void): Promise<void> {
    if (this.#path !== null) return;
    this.#directory = await mkdtemp(join(tmpdir(), 'record-service-'));
    const path = join(this.#directory, 'rows');
    let bytes = 0;
    const chunks = async function* () {
      for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        yield chunk;
        kept(bytes);
      }
    };
    await writeFile(path, chunks(), { mode: 0o600 });
    this.#path = path;
    this.#size = bytes;
  }

  async *read(): AsyncGenerator<Buffer> {
    this.#read = 0;
    const path = this.#path;
    const stream = path === null ? process.stdin : (await open(path)).createReadStream({ highWaterMark: CHUNK_BYTES });
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      this.#read += chunk.length;
      yield chunk;
    }
  }

  /** How much of it was read, from 0 to 1. */
  share(): number | undefined {
    return this.#size === 0 ? undefined : this.#read / this.#size;
  }

  async close(): Promise<void> {
    if (this.#directory !== null) await rm(this.#directory, { recursive: true, force: true });
  }
}

/** Before anything else is done: a file that is missing changes nothing. @throws OperatorError */
async function openSource(file: string): Promise<Source> {
  if (file === '-') return new Source(null, 0);
  try {
    const handle = await open(file);
    const stats = await handle.stat().finally(() => handle.close());
    if (!stats.isDirectory()) return new Source(file, stats.size);
  } catch (error) {
    throw new OperatorError(`--file: ${(error as Error).message}`);
  }
  throw new OperatorError(`--file: EISDIR: ${file} is a directory`);
}

/** Tells of refused rows: the first on stderr, all in a file where one is given. */
class Rejects {
  readonly #teller: Teller;
  readonly #unit: string;
  readonly #file: string | undefined;
  #writing = Promise.resolve();
  #count = 0;

  /** Begins the file, before anything is imported. @throws OperatorError where it cannot be written, or is the one that is imported */
  static async open(teller: Teller, unit: string, file: string | undefined, source: string): Promise<Rejects> {
    if (file !== undefined) {
      try {
        if (await isSame(file, source)) throw new Error('it is the file that is imported');
        await writeFile(file, '', { mode: 0o600 });
      } catch (error) {
        throw unwritten(error);
      }
    }
    return new Rejects(teller, unit, file);
  }

  private constructor(teller: Teller, unit: string, file: string | undefined) {
    this.#teller = teller;
    this.#unit = unit;
    this.#file = file;
  }

  get count(): number {
    return this.#count;
  }

  take({ line, text, error }: RejectedLine): void {
    const told = { line, code: error.code, error: oneLine(error.message) };
    const file = this.#file;
    if (file !== undefined) {
      this.#writing = this.#writing.then(() => appendFile(file, `${JSON.stringify({ ...told, row: rowOf(text) })}\n`));
      // Told where it is waited for.
      this.#writing.catch(() => {});
    }
    this.#count++;
    if (this.#count > MAX_REJECTED_SHOWN) return;
    this.#teller.note(`${this.#unit} ${line}: ${told.code}: ${told.error}`, told);
    const more = 'further rejected rows are only counted; --rejected FILE keeps them all';
    if (this.#count === MAX_REJECTED_SHOWN && file === undefined) this.#teller.note(more, { note: more });
  }

  /** @throws OperatorError where they could not be written */
  async written(): Promise<void> {
    await this.#writing.catch((error) => {
      throw unwritten(error);
    });
  }
}

const unwritten = (error: unknown) => new OperatorError(`--rejected: ${(error as Error).message}`);

/** Whether two names lead to one file. */
async function isSame(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => stat(path).catch(() => null)));
  return a != null && b != null && a.dev === b.dev && a.ino === b.ino;
}

/** The JSON value of a row; its text where it is none. */
function rowOf(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return text;
  }
}
