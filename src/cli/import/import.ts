import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { newAct, operator } from '../../acts/index.ts';
import { activeTriggers } from '../../automation/definition/trigger-cache.ts';
import { canonicalJson, type JsonValue } from '../../kernel/json.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { RecordContext } from '../../records/index.ts';
import {
  type Format,
  fieldMapOf,
  formats,
  type ImportPlan,
  ImportProgress,
  type ImportRequest,
  importRecords,
  type OtherProcesses,
  planImport,
  refuseImport,
} from '../../transfer/index.ts';
import { type DateOrder, dateOrders } from '../../values/index.ts';
import type { Actions, Print } from '../terminal/actions.ts';
import { forOperator, oneLine, withRefusals } from '../terminal/format-error.ts';
import { addProgressOptions, type ProgressOptions, ProgressReporter } from '../terminal/progress.ts';
import { Rejects } from './rejects.ts';
import { Source } from './source.ts';

interface ImportOptions extends ProgressOptions {
  system: string;
  table: string;
  file: string;
  format: Format | 'auto';
  map?: string;
  matchOn?: string;
  dryRun?: true;
  keepTimes?: true;
  skipTriggers?: true;
  skipTimeline?: true;
  newFields?: true;
  dateOrder?: DateOrder;
  encoding?: string;
  rejected?: string;
  continue?: true;
}

/** `import`. Reference: import.md#import-command. */
export function addImportCommand(program: Command, { withRecords, ask }: Actions, print: Print): void {
  addProgressOptions(program.command('import'))
    .description('import the rows of a file as records; exit code 2 if rows were rejected')
    .requiredOption('--system <app-id>', 'application id of the system')
    .requiredOption('--table <name>', 'table')
    .requiredOption('--file <path>', 'CSV, NDJSON, JSON, a Parse export or the output of mongoexport; - for standard input')
    .addOption(
      new Option('--format <name>', 'format of the file; auto: recognised by its beginning')
        .choices(['auto', ...formats])
        .default('auto'),
    )
    .option(
      '--map <path>',
      'a JSON file {"<column>": "<Field>"}; null leaves a column out, "AccountId.CompanyId" finds a Pointer',
    )
    .option('--match-on <fields>', 'comma list of fields; a row changes the one record with the same values of these fields')
    .option('--dry-run', 'write nothing, and report what would be written')
    .option('--new-fields', 'create fields that the table does not have, and the table if it does not exist')
    .option('--keep-times', 'keep objectId, createdAt, updatedAt, createdBy and updatedBy of the rows')
    .option('--skip-triggers', 'run no triggers for these writes')
    .option('--skip-timeline', 'write no timeline rows for these writes')
    .addOption(
      new Option('--date-order <order>', 'order of day, month and year in CSV dates that are not ISO').choices(dateOrders),
    )
    .option('--encoding <name>', 'encoding of the file (default: UTF-8; other CSV is read as windows-1255)')
    .option('--rejected <path>', 'file for the rejected rows, one JSON object a line: line, code, error, row')
    .option('--continue', 'continue the same import after it was interrupted')
    .action(async (options: ImportOptions) => {
      if (options.dryRun && options.continue)
        throw new OperatorError('--dry-run writes nothing that --continue could go on from');
      const reporter = new ProgressReporter(options);
      const source = await Source.open(options.file, (done) =>
        reporter.progress({ what: 'standard input', done, unit: 'bytes' }),
      );
      try {
        const request = await requestOf(options);
        const rejected = await withRecords(options.system, async (context, otherProcesses) => {
          try {
            return await run({ context, otherProcesses, source, options, request, reporter }, { ask, print });
          } catch (error) {
            throw forOperator(error);
          }
        });
        if (rejected > 0) throw withRefusals('rows were rejected');
      } finally {
        reporter.clear();
        await source.close();
      }
    });
}

async function requestOf(options: ImportOptions): Promise<ImportRequest> {
  const { table, format, map, matchOn = '', dateOrder, encoding } = options;
  const fields = matchOn.split(',').map((name) => name.trim());
  if (options.matchOn !== undefined && fields.includes('')) throw new OperatorError('--match-on: a name is missing');
  return {
    className: table,
    format,
    map: map === undefined ? new Map() : await readMap(map),
    matchOn: options.matchOn === undefined ? [] : [...new Set(fields)],
    keepTimes: options.keepTimes === true,
    skipTriggers: options.skipTriggers === true,
    skipTimeline: options.skipTimeline === true,
    newFields: options.newFields === true,
    dateOrder,
    encoding,
  };
}

async function readMap(path: string): Promise<ImportRequest['map']> {
  try {
    return fieldMapOf(JSON.parse((await readFile(path, 'utf8')).replace(/^\uFEFF/, '')) as JsonValue);
  } catch (error) {
    throw new OperatorError(`--map: ${oneLine((error as Error).message)}`);
  }
}

/** State of an import. */
interface Run {
  readonly context: RecordContext;
  readonly otherProcesses: () => OtherProcesses;
  readonly source: Source;
  readonly options: ImportOptions;
  readonly request: ImportRequest;
  readonly reporter: ProgressReporter;
}

/** @returns how many rows were rejected */
async function run(importing: Run, { ask, print }: { ask: Actions['ask']; print: Print }): Promise<number> {
  const { context, source, options, request, reporter } = importing;
  const { table } = options;
  refuseImport(context, request);
  reporter.begin();
  const looked = (done: number) => reporter.progress({ what: table, done, unit: 'rows looked at', share: source.share() });
  const plan = await planImport(context, source, request, looked);
  reporter.clear();
  for (const note of plan.notes) reporter.note(note, { note });
  warnOfSlowMatch(importing);
  const continued = options.continue
    ? await ImportProgress.resume(context.store, idOf(plan, table), termsOf(plan, request))
    : null;
  if (options.continue && !continued) await refuseOtherFile(importing);
  if (continued && continued.progress.counts.created > 0 && !context.store.schema().tables.has(table))
    throw new OperatorError(`${table} was dropped since: begin anew, without --continue`);
  if (continued?.isOver) {
    const text = `nothing is left: ${continued.progress.counts.done} rows were dealt with before`;
    reporter.note(text, { note: text });
    printResult({ done: 0, created: 0, updated: 0, rejected: 0 }, options, print);
    return 0;
  }
  const before = continued?.progress.counts.done ?? 0;
  if (before > 0) reporter.note(`going on after ${before} rows`, { goingOnAfter: before });
  if (!request.skipTriggers) await warnOfTriggers(importing, ask);
  const rejects = await Rejects.open(reporter, plan.unit, options.rejected, options.file, continued !== null);
  try {
    const progress = options.dryRun
      ? null
      : (continued?.progress ??
        (await ImportProgress.begin(context.store, idOf(plan, table), table, termsOf(plan, request), actOf(plan, request))));
    return await execute(importing, plan, progress, rejects, print);
  } finally {
    await rejects.close();
  }
}

/** Refuses `--continue` for a file that changed since it was interrupted: its rows would be imported from the start, some of them a second time. */
async function refuseOtherFile({ context, options: { table } }: Run): Promise<void> {
  const done = await ImportProgress.unfinished(context.store, table);
  if (done > 0)
    throw new OperatorError(
      `this file was never begun, and the import of another one into ${table} is under way or was cut off after ${done} rows: --continue goes on with the file as it was; without it this one begins anew`,
    );
}

async function execute(
  { context, otherProcesses, options, request, reporter }: Run,
  plan: ImportPlan,
  progress: ImportProgress | null,
  rejects: Rejects,
  print: Print,
): Promise<number> {
  const { table } = options;
  const first = progress?.counts.done ?? 0;
  let reached = progress?.counts;
  reporter.begin();
  const importing = importRecords(context, request, plan, {
    otherProcesses,
    progress,
    events: {
      keep: (rows, position) => rejects.keep(rows, position),
      rejected: (row) => rejects.take(row),
      progressed(counts) {
        reached = counts;
        const share = plan.rows === first ? 1 : (counts.done - first) / (plan.rows - first);
        reporter.progress({ what: table, done: counts.done - first, unit: 'rows', share });
      },
    },
  });
  const result = await importing.catch((error) => {
    reporter.clear();
    const records = (reached?.created ?? 0) + (reached?.updated ?? 0);
    const text = `the import broke off after ${records} records, which stay in ${table}; --continue goes on there`;
    if (records > 0 && progress) reporter.note(text, { brokeOff: table, created: reached?.created, updated: reached?.updated });
    throw error;
  });
  reporter.clear();
  reportLeftOut(result.leftOut, request, plan.unit, reporter);
  printResult(result, options, print);
  return result.rejected;
}

/** Identifies an import: its file and table must be the same to continue it. */
const idOf = ({ digest }: ImportPlan, table: string): string =>
  createHash('sha256').update(`${digest}\n${table}`).digest('hex').slice(0, 32);

/** Options that must be the same as well. */
const termsOf = ({ format }: ImportPlan, { map, dateOrder, encoding, matchOn, longest: _, ...request }: ImportRequest): string =>
  canonicalJson({
    ...request,
    format,
    matchOn: [...matchOn],
    dateOrder: dateOrder ?? null,
    encoding: encoding ?? null,
    map: Object.fromEntries(map),
  });

/** The row of an import in the log of administrators, written when it begins. */
const actOf = ({ format, rows }: ImportPlan, { className, matchOn }: ImportRequest) =>
  newAct({ act: 'import', subject: className, after: { format, rows, matchOn: [...matchOn] } }, operator);

function printResult(
  { done: rows, created, updated, rejected }: { done: number; created: number; updated: number; rejected: number },
  { json, dryRun }: ImportOptions,
  print: Print,
): void {
  if (json) print(JSON.stringify({ rows, created, updated, rejected, ...(dryRun && { dryRun }) }));
  else print(`${rows} rows: ${created} created, ${updated} updated, ${rejected} rejected`);
}

/** Fields that `--keep-times` imports for new records. */
const takenOver: ReadonlySet<string> = new Set(['objectId', 'createdAt', 'updatedAt', 'createdBy', 'updatedBy']);

function reportLeftOut(
  leftOut: ReadonlyMap<string, number>,
  { keepTimes }: ImportRequest,
  unit: string,
  reporter: ProgressReporter,
): void {
  for (const [field, count] of leftOut) {
    const text = `${field} of ${count} ${count === 1 ? unit : `${unit}s`} was not taken over`;
    const hint = !keepTimes && takenOver.has(field) ? '; --keep-times takes it over' : '';
    reporter.note(`${text}${hint}`, { notTakenOver: field, rows: count });
  }
}

/** Warns if matching has to read the whole table for every thousand rows. */
function warnOfSlowMatch({ context, request: { className, matchOn }, reporter }: Run): void {
  const table = context.store.schema().tables.get(className);
  if (!table || matchOn.length === 0 || matchOn.includes('objectId')) return;
  const isIndexed = [...table.indexes.values()].some(({ keys: [first] }) => first !== undefined && matchOn.includes(first[0]));
  if (isIndexed) return;
  const text = `${className} has no index that begins with ${matchOn.join(' or ')}: to match rows its records are read over and over`;
  reporter.note(text, { note: text });
}

/** Reports the triggers that the records would run, and asks for confirmation on a terminal. @throws OperatorError if it is declined */
async function warnOfTriggers({ context: { store }, options, request, reporter }: Run, ask: Actions['ask']): Promise<void> {
  await activeTriggers.ready(store);
  const fires = (events: ReadonlySet<string>) => events.has('create') || (request.matchOn.length > 0 && events.has('update'));
  const firing = activeTriggers.of(store, options.table).filter(({ events }) => fires(events));
  if (firing.length === 0) return;
  const triggers = firing.map(({ id, name, actions }) => ({ id, name, actions: actions.map(({ type }) => type) }));
  const texts = triggers.map(({ id, name, actions }) => `${JSON.stringify(oneLine(name ?? id))} (${actions.join(', ')})`);
  const runs = options.dryRun ? 'would run' : 'runs';
  reporter.note(`each record ${runs} these triggers: ${texts.join(', ')}; --skip-triggers runs none`, { triggers });
  if (options.dryRun) return;
  const answer = await ask('Go on? [y/N] ');
  if (answer !== null && !/^y(es)?$/i.test(answer.trim())) throw new OperatorError('nothing was imported');
}
