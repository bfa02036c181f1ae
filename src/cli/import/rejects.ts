import { type FileHandle, open, stat } from 'node:fs/promises';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { RejectedRow } from '../../transfer/index.ts';
import { oneLine } from '../terminal/format-error.ts';
import type { ProgressReporter } from '../terminal/progress.ts';

/** Maximum number of rejected rows shown; a file of the wrong format would otherwise flood the terminal. */
const MAX_SHOWN = 20;

/** Reports rejected rows: the first on stderr, all in a file if one is given. */
export class Rejects {
  readonly #reporter: ProgressReporter;
  readonly #unit: string;
  readonly #file: FileHandle | null;
  #count = 0;

  /**
   * Opens the file, before anything is imported.
   * @param goesOn whether its content stays, when an interrupted import continues
   * @throws OperatorError if it cannot be written, or is the file being imported
   */
  static async open(
    reporter: ProgressReporter,
    unit: string,
    file: string | undefined,
    source: string,
    goesOn: boolean,
  ): Promise<Rejects> {
    if (file === undefined) return new Rejects(reporter, unit, null);
    try {
      if (await isSame(file, source)) throw new Error('it is the file that is imported');
      const handle = await open(file, goesOn ? 'a+' : 'w+', 0o600);
      // In append mode, writes go to the current end of the file, which is the truncated position.
      return new Rejects(reporter, unit, handle);
    } catch (error) {
      throw unwritten(error);
    }
  }

  private constructor(reporter: ProgressReporter, unit: string, file: FileHandle | null) {
    this.#reporter = reporter;
    this.#unit = unit;
    this.#file = file;
  }

  get count(): number {
    return this.#count;
  }

  /** See `ImportEvents.keep`. */
  async keep(rows: readonly RejectedRow[], position: number): Promise<number> {
    const file = this.#file;
    if (!file) return position;
    try {
      await file.truncate(position);
      let end = position;
      for (const { row, error } of rows) {
        const line = Buffer.from(`${JSON.stringify({ ...reportOf(row.number, error), row: row.toJson() })}\n`);
        await file.write(line, 0, line.length, end);
        end += line.length;
      }
      return end;
    } catch (error) {
      throw unwritten(error);
    }
  }

  take({ row, error }: RejectedRow): void {
    this.#count++;
    if (this.#count > MAX_SHOWN) return;
    const report = reportOf(row.number, error);
    this.#reporter.note(`${this.#unit} ${report.line}: ${report.code}: ${report.error}`, report);
    const more = 'further rejected rows are only counted; --rejected FILE keeps them all';
    if (this.#count === MAX_SHOWN && this.#file === null) this.#reporter.note(more, { note: more });
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}

const reportOf = (line: number, error: RejectedRow['error']) => ({ line, code: error.code, error: oneLine(error.message) });

const unwritten = (error: unknown) => new OperatorError(`--rejected: ${(error as Error).message}`);

/** Whether two paths refer to the same file. */
async function isSame(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => stat(path).catch(() => null)));
  return a != null && b != null && a.dev === b.dev && a.ino === b.ino;
}
