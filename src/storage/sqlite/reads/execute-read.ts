import type { JsonObject } from '../../../kernel/json.ts';
import { escapedRowWriter, rowWriter } from '../../../values/rows/encode.ts';
import { rowReader } from '../../../values/rows/row-values.ts';
import { Commas, type TargetSource, writePage, writeShort } from '../../sql/reads/include-expansion.ts';
import { Allowance, type ReadPlan, type ResolveInclude, type Row, textOf } from '../../sql/reads/read-plan.ts';
import type { Rows } from '../connection/statements.ts';
import { sqliteDialect } from '../sql/dialect.ts';

/** Rows read between two expansions; each expansion takes one query per level and class. */
const PAGE_ROWS_WITH_INCLUDES = 500;
/** Rows of a page without includes: few, so that they die before the garbage collector promotes them to the old generation. */
const PAGE_ROWS = 50;
/** Characters of text after which a page is full, regardless of its rows. */
const PAGE_CHARS = 256 * 1024;

/** Characters of arrays of Pointers that the event loop expands: about 2,000 records, 20 ms. */
const MAX_SHORT_ARRAY_CHARS = 128 * 1024;
/** Maximum characters of an answer with includes on the event loop. */
const MAX_SHORT_TEXT_CHARS = 2 * 1024 * 1024;

/**
 * Executes a plan on the event loop and returns the JSON text of the records, comma-separated.
 * @throws TooLong if it turns out too long for that
 */
export async function runShort(rows: Rows, plan: ReadPlan, resolve: ResolveInclude): Promise<string> {
  const allowance = new Allowance(MAX_SHORT_TEXT_CHARS);
  const found: Row[] = [];
  for (const row of rows.each(plan)) {
    allowance.spendRow(row);
    found.push(row);
  }
  return writeShort(sourceOf(rows, resolve, MAX_SHORT_ARRAY_CHARS), plan, found, allowance);
}

/** Does the same for a plan without includes. */
export function runPlain(rows: Rows, plan: ReadPlan): string {
  const write = rowWriter(plan.shape);
  let out = '';
  for (const row of rows.all(plan)) out += out === '' ? write(row) : `,${write(row)}`;
  return out;
}

/** Does the same but returns the text of each record as it stands inside a JSON string. */
export const writeEscaped = (rows: Rows, plan: ReadPlan): string[] => {
  const write = escapedRowWriter(plan.shape);
  return rows.all(plan).map((row) => write(row));
};

/** Does the same but returns values. */
export const readPlain = (rows: Rows, plan: ReadPlan): JsonObject[] => rows.all(plan).map(rowReader(plan.shape));

/**
 * Executes a plan page by page and yields the JSON text of the records in chunks, with commas.
 * @param onPage called with the characters of each page, which stay in memory until it is written, and with its rows
 */
export async function* runPaged(
  rows: Rows,
  plan: ReadPlan,
  resolve: ResolveInclude,
  onPage: (characters: number, rows: number) => void,
): AsyncGenerator<string> {
  const source = sourceOf(rows, resolve, Number.POSITIVE_INFINITY);
  const found = rows.each(plan, plan.maxValueBytes);
  try {
    const size = plan.includes.length > 0 ? PAGE_ROWS_WITH_INCLUDES : PAGE_ROWS;
    const commas = new Commas();
    for (let page = take(found, size); page.length > 0; page = take(found, size)) {
      onPage(
        page.reduce((sum, row) => sum + textOf(row), 0),
        page.length,
      );
      yield* writePage(source, plan, page, commas);
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

/** The event loop resolves one include at a time for a reader thread. */
async function oneByOne<T, U>(items: readonly T[], work: (item: T) => Promise<U>): Promise<U[]> {
  const done: U[] = [];
  for (const item of items) done.push(await work(item));
  return done;
}

function take(rows: Iterator<Row>, count: number): Row[] {
  const page: Row[] = [];
  let text = 0;
  while (page.length < count && text < PAGE_CHARS) {
    const next = rows.next();
    if (next.done) break;
    page.push(next.value);
    text += textOf(next.value);
  }
  return page;
}
