import type { JsonObject } from '../../../kernel/json.ts';
import { rowWriter } from '../../../values/rows/encode.ts';
import { rowReader } from '../../../values/rows/row-values.ts';
import { Commas, type TargetSource, writePage, writeShort } from '../../sql/reads/include-expansion.ts';
import { Allowance, type ReadPlan, type ResolveInclude, type Row, textOf } from '../../sql/reads/read-plan.ts';
import type { Rows } from '../connection/statements.ts';
import { sqliteDialect } from '../sql/dialect.ts';

/** Rows read between two expansions: one query per level and class for each of these. */
const PAGE_ROWS_WITH_INCLUDES = 500;
/** Rows of a page without: few, so that they are gone before the garbage collector takes them for lasting. */
const PAGE_ROWS = 50;
/** Characters of text after which a page is full, however few its rows. */
const PAGE_TEXT = 256 * 1024;

/** Characters of arrays of Pointers that the event loop expands at once: some 2,000 records, 20 ms. */
const MAX_SHORT_ARRAYS = 128 * 1024;
/** Characters that an answer with includes may come to on the event loop. */
const MAX_SHORT_TEXT = 2 * 1024 * 1024;

/**
 * Runs a job whole, on the event loop; JSON text of the records, comma-separated.
 * @throws NotShort where it turns out too long for that
 */
export async function runShort(rows: Rows, job: ReadPlan, resolve: ResolveInclude): Promise<string> {
  const allowance = new Allowance(MAX_SHORT_TEXT);
  const found: Row[] = [];
  for (const row of rows.each(job)) {
    allowance.spendRow(row);
    found.push(row);
  }
  return writeShort(sourceOf(rows, resolve, MAX_SHORT_ARRAYS), job, found, allowance);
}

/** The same of a job without includes. */
export function runPlain(rows: Rows, job: ReadPlan): string {
  const write = rowWriter(job.shape);
  let out = '';
  for (const row of rows.all(job)) out += out === '' ? write(row) : `,${write(row)}`;
  return out;
}

/** The same as values. */
export const readPlain = (rows: Rows, job: ReadPlan): JsonObject[] => rows.all(job).map(rowReader(job.shape));

/**
 * Runs a job page by page; JSON text of the records in pieces, commas with it.
 * @param onPage told of the characters of each page, which memory holds until it is written
 */
export async function* runPaged(
  rows: Rows,
  job: ReadPlan,
  resolve: ResolveInclude,
  onPage: (characters: number) => void,
): AsyncGenerator<string> {
  const source = sourceOf(rows, resolve, Number.POSITIVE_INFINITY);
  const found = rows.each(job, job.maxValueBytes);
  try {
    const size = job.includes.length > 0 ? PAGE_ROWS_WITH_INCLUDES : PAGE_ROWS;
    const commas = new Commas();
    for (let page = take(found, size); page.length > 0; page = take(found, size)) {
      onPage(page.reduce((sum, row) => sum + textOf(row), 0));
      yield* writePage(source, job, page, commas);
    }
  } finally {
    found.return?.();
  }
}

function sourceOf(rows: Rows, resolve: ResolveInclude, arrayText: number): TargetSource {
  return {
    resolve,
    arrayText,
    maxIds: Number.POSITIVE_INFINITY,
    list: sqliteDialect.list,
    async all(statement, allowance) {
      const found: Row[] = [];
      for (const row of rows.each(statement)) {
        allowance.spendRow(row);
        found.push(row);
      }
      return found;
    },
    each: oneByOne,
  };
}

/** A reader thread is given one job at a time by the event loop. */
async function oneByOne<T, U>(items: readonly T[], work: (item: T) => Promise<U>): Promise<U[]> {
  const done: U[] = [];
  for (const item of items) done.push(await work(item));
  return done;
}

function take(rows: Iterator<Row>, count: number): Row[] {
  const page: Row[] = [];
  let text = 0;
  while (page.length < count && text < PAGE_TEXT) {
    const next = rows.next();
    if (next.done) break;
    page.push(next.value);
    text += textOf(next.value);
  }
  return page;
}
