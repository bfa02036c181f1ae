import { rowWriter } from '../../../values/encode.ts';
import { type TargetSource, writeRecords } from '../../sql/reads/expand.ts';
import type { ReadJob, ResolveInclude } from '../../sql/reads/job.ts';
import type { Connection, Row } from '../connection.ts';
import { sqliteDialect } from '../sql/dialect.ts';

/** Rows read between two expansions: one query per level and class for each of these. */
const PAGE_WITH_INCLUDES = 500;
/** Rows of a page without: few, so that they are gone before the garbage collector takes them for lasting. */
const PAGE = 50;
/** Characters of text after which a page is full, however few its rows. */
const PAGE_TEXT = 256 * 1024;

/** Runs a job without includes whole; JSON text of the records, comma-separated. */
export function runWhole(connection: Connection, job: ReadJob): string {
  const write = rowWriter(job.shape);
  const rows = connection.all(job);
  let out = '';
  for (const row of rows) out += out === '' ? write(row) : `,${write(row)}`;
  return out;
}

/**
 * Runs a job page by page; each piece is the JSON text of some records, comma-separated.
 * @param arrayText characters of arrays that are expanded for one page and one include
 * @throws NotShort where there are more
 */
export async function* runPaged(
  connection: Connection,
  job: ReadJob,
  resolve: ResolveInclude,
  arrayText = Number.POSITIVE_INFINITY,
): AsyncGenerator<string> {
  const source: TargetSource = {
    resolve,
    arrayText,
    mostIds: Number.POSITIVE_INFINITY,
    list: sqliteDialect.list,
    all: (statement) => connection.all(statement),
    each: oneByOne,
  };
  const rows = connection.each(job);
  try {
    const size = job.includes.length > 0 ? PAGE_WITH_INCLUDES : PAGE;
    for (let page = take(rows, size); page.length > 0; page = take(rows, size))
      yield (await writeRecords(source, job, page)).join(',');
  } finally {
    rows.return?.();
  }
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
    for (const value of next.value) if (typeof value === 'string') text += value.length;
  }
  return page;
}
