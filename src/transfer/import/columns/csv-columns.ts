import { fail } from '../../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { type DateOrder, readDateText } from '../../../values/index.ts';
import { type Cell, CsvReader, type CsvRow } from '../source/csv.ts';
import { type CellReader, cellReader, quotedCell, unguarded } from './cells.ts';
import { TypeGuess } from './guess.ts';
import { type Link, none, type ReadRow, type SourceRow } from './row.ts';
import {
  nameOf,
  refuseTwice,
  refuseUnknown,
  refuseUnusedMap,
  shown,
  type Target,
  type Targets,
  type Unknown,
} from './targets.ts';

/** A column with its target and parser. */
interface Column {
  readonly target: Target;
  readonly read: CellReader;
}

/** Result of examining a CSV file. */
export interface CsvPlan {
  /** Number of rows after the header. */
  readonly rows: number;
  row(row: CsvRow): SourceRow;
}

/** Options for examining a CSV file. */
export interface CsvOptions {
  readonly className: string;
  readonly targets: Targets;
  readonly map: ReadonlyMap<string, string | null>;
  readonly dates: DateOrder | undefined;
  /** Maximum number of characters of a row. */
  readonly longest: number;
}

/** Returns the rows of a CSV text in blocks, header first. @throws OperatorError for an unclosed quote */
export async function* csvRows(texts: AsyncIterable<string>): AsyncGenerator<readonly CsvRow[]> {
  const reader = new CsvReader();
  for await (const text of texts) yield reader.take(text);
  const { rows, openQuote } = reader.end();
  if (openQuote !== null) throw new OperatorError(`row ${openQuote}: a quote is opened and never closed. Nothing was imported`);
  yield rows;
}

/**
 * Examines a whole CSV file: its columns, what must be known of all rows before the first is written, and the types of new fields.
 * @param onProgress called with the number of rows so far
 * @throws OperatorError with the reason why nothing of the file can be imported
 */
export async function planCsv(
  texts: AsyncIterable<string>,
  options: CsvOptions,
  onProgress: (rows: number) => void,
): Promise<CsvPlan> {
  let survey: Survey | undefined;
  for await (const block of csvRows(texts)) {
    for (const row of block)
      if (survey) survey.take(row);
      else survey = new Survey(row, options);
    onProgress(survey?.rows ?? 0);
  }
  if (!survey) throw new OperatorError('the file is empty: it has no header');
  return survey.plan();
}

class Survey {
  rows = 0;
  readonly #options: CsvOptions;
  readonly #names: readonly string[];
  readonly #targets: readonly Target[];
  /** Columns whose cells are all examined. */
  readonly #examined: readonly (readonly [at: number, examine: (cell: Cell, row: number) => void])[];
  readonly #guesses = new Map<number, TypeGuess>();

  constructor({ cells, fault, number }: CsvRow, options: CsvOptions) {
    if (fault !== null) throw new OperatorError(`row ${number}: ${faults[fault]}. Nothing was imported`);
    this.#options = options;
    const header = cells.map((cell) => cell ?? '');
    refuseOther(header);
    this.#names = header.map((cell) => unguarded(cell).trim());
    refuseSame(this.#names);
    refuseUnusedMap(options.map, this.#names);
    this.#targets = this.#findTargets();
    refuseTwice(this.#names.map((name, at) => [name, this.#targets[at] as Target]));
    this.#examined = this.#targets.flatMap((target, at) => {
      const examine = this.#examinerOf(target, at);
      return examine ? [[at, examine] as const] : [];
    });
  }

  take({ cells, number, fault }: CsvRow): void {
    this.rows++;
    if (fault !== null || cells.length !== this.#names.length) return;
    for (const [at, examine] of this.#examined) {
      const cell = cells[at];
      if (cell !== null) examine(cell as string, number);
    }
  }

  plan(): CsvPlan {
    const columns: Column[] = this.#targets.map((target, at) => {
      const guess = this.#guesses.get(at);
      if (guess?.ambiguous) refuseAmbiguous(guess.ambiguous, this.#names[at] ?? '');
      return this.#column(target, guess);
    });
    const names = this.#names;
    const { longest } = this.#options;
    return {
      rows: this.rows,
      row: (row) =>
        new CsvSourceRow(row.length > longest ? { ...row, cells: [], fault: 'tooLong' } : row, names, columns, longest),
    };
  }

  #findTargets(): Target[] {
    const unknown: Unknown[] = [];
    const targets = this.#names.map((name): Target => {
      if (name === '' && !this.#options.map.has('')) return { kind: 'none' };
      const target = this.#options.targets.of(name);
      if ('kind' in target) return target;
      unknown.push(target);
      return { kind: 'none' };
    });
    if (unknown.length > 0) refuseSeparator(this.#names);
    refuseUnknown(this.#options.className, unknown);
    return targets;
  }

  #examinerOf(target: Target, at: number): ((cell: Cell, row: number) => void) | null {
    const { dates } = this.#options;
    if (this.#names[at] === '' && target.kind === 'none')
      return (cell, row) => {
        if (cell !== '') throw new OperatorError(`column ${at + 1} has no name, and a value in row ${row}. Nothing was imported`);
      };
    if (target.kind === 'new') {
      const guess = new TypeGuess(dates);
      this.#guesses.set(at, guess);
      return (cell, row) => guess.take(cell ?? '', row);
    }
    if (target.kind !== 'field' || target.field.type !== 'Date' || dates !== undefined) return null;
    return (cell, row) => {
      if (cell !== null && !beginsWithYear.test(cell) && readDateText(cell, undefined) === 'ambiguous')
        refuseAmbiguous({ row, cell }, this.#names[at] ?? '');
    };
  }

  #column(target: Target, guess: TypeGuess | undefined): Column {
    const { className, dates } = this.#options;
    const asRead = (cell: string) => cell;
    if (target.kind === 'none') return { target, read: asRead };
    if (target.kind === 'field') return { target, read: cellReader(className, target.field, dates) };
    if (target.kind === 'link') return { target, read: cellReader(target.className, target.by, dates) };
    return { target, read: cellReader(className, { name: target.name, ...(guess?.type ?? { type: 'String' }) }, dates) };
  }
}

/** Fast path: such a date is unambiguous. */
const beginsWithYear = /^\d{4}-/;

/** Refuses a file whose header shows that it is not CSV. @throws OperatorError */
function refuseOther(header: readonly string[]): void {
  if (header.some((name) => name.includes('\0')))
    throw new OperatorError('the file is no text, perhaps a workbook: save it as CSV. Nothing was imported');
}

/** Excel writes this row before the header to name the separator. */
const separatorRow = /^sep=(.?)$/i;

/** Called for unknown names, which another separator than a comma would explain. @throws OperatorError */
function refuseSeparator([first = '', ...others]: readonly string[]): void {
  const isNamed = separatorRow.test(first);
  const separator = separatorRow.exec(first)?.[1] ?? /[;\t|]/.exec(others.length === 0 ? first : '')?.[0];
  if (!isNamed && separator === undefined) return;
  const row = isNamed ? ', without the row sep= before the header' : '';
  throw new OperatorError(
    `its cells seem to be separated by ${shown(separator || ',')}: save the file with commas${row}. Nothing was imported`,
  );
}

function refuseSame(names: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (name !== '' && seen.has(name)) throw new OperatorError(`two columns are named ${shown(name)}. Nothing was imported`);
    seen.add(name);
  }
}

function refuseAmbiguous({ row, cell }: { readonly row: number; readonly cell: string }, column: string): never {
  throw new OperatorError(
    `row ${row}: ${quotedCell(cell)} in ${shown(column)} can be read as several dates; --date-order dmy, mdy or ymd tells which. Nothing was imported`,
  );
}

const faults: Readonly<Record<NonNullable<CsvRow['fault']>, string>> = {
  tooLong: 'it is too long',
  quoteInCell: 'a quote stands in a cell that is not in quotes',
  textAfterQuote: 'text follows the quote that ends a cell',
};

class CsvSourceRow implements SourceRow {
  readonly number: number;
  readonly length: number;
  readonly #row: CsvRow;
  readonly #names: readonly string[];
  readonly #columns: readonly Column[];
  readonly #longest: number;

  constructor(row: CsvRow, names: readonly string[], columns: readonly Column[], longest: number) {
    this.number = row.number;
    this.length = row.length;
    this.#row = row;
    this.#names = names;
    this.#columns = columns;
    this.#longest = longest;
  }

  read(): ReadRow {
    const { cells, fault } = this.#row;
    if (fault === 'tooLong') fail('rowTooLong', `row ${this.number}`, Math.min(this.#longest, limits.bodyBytes));
    if (fault !== null) fail('badRow', faults[fault]);
    if (cells.length !== this.#columns.length) fail('badRow', `it has ${cells.length} cells, the header ${this.#columns.length}`);
    const body: JsonObject = {};
    const links: Link[] = [];
    const leftOut: string[] = [];
    for (let at = 0; at < cells.length; at++) {
      const cell = cells[at];
      if (cell === null || cell === undefined) continue;
      const { target, read } = this.#columns[at] as Column;
      if (target.kind === 'none') {
        if (target.leftOut !== undefined) leftOut.push(target.leftOut);
        continue;
      }
      const value = read(unguarded(cell));
      if (target.kind === 'link') links.push({ target, value });
      else body[nameOf(target) as string] = value;
    }
    return { body, links, leftOut: leftOut.length === 0 ? none : leftOut };
  }

  toJson(hides?: (name: string) => boolean): JsonValue {
    const { cells, fault } = this.#row;
    if (fault === 'tooLong') return null;
    if (fault !== null || cells.length !== this.#names.length) return hides ? null : [...cells];
    const shown = this.#names.map((name, at): [string, JsonValue] => [name, cells[at] ?? null]);
    if (!hides) return Object.fromEntries(shown);
    const isHidden = (name: string, at: number) => hides(name) || hides(nameOf((this.#columns[at] as Column).target) ?? name);
    return Object.fromEntries(shown.filter(([name], at) => !isHidden(name, at)));
  }
}
