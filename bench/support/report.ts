/** A table as it was printed. */
export interface PrintedTable {
  readonly heading: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const printed: PrintedTable[] = [];

/** Returns the tables printed since the last call. */
export function takePrinted(): PrintedTable[] {
  return printed.splice(0);
}

/** Prints a table. The first column is aligned left, the others right. */
export function printTable(heading: string, columns: string[], rows: string[][]): void {
  printed.push({ heading, columns, rows });
  const widths = columns.map((column, index) => Math.max(column.length, ...rows.map((row) => row[index]?.length ?? 0)));
  const line = (cells: string[]) =>
    cells.map((cell, index) => (index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0))).join('  ');
  console.log(`\n${heading}`);
  console.log(line(columns));
  console.log(widths.map((width) => '-'.repeat(width)).join('  '));
  for (const row of rows) console.log(line(row));
}

/** Prints a line of progress to stderr, apart from the tables. */
export function note(text: string): void {
  console.error(`  ${text}`);
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

export function ratio(value: number): string {
  return `${value.toFixed(2)}×`;
}

export function milliseconds(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : 0)} ms`;
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Returns whether a figure reached its target, as text. */
export function verdict(reached: boolean): string {
  return reached ? 'reached' : 'MISSED';
}
