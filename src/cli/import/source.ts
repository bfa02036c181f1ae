import { mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '../../kernel/operator-error.ts';

/** Bytes per read; their rows are in memory together. */
const CHUNK_BYTES = 32 * 1024;

/** The file of an import. Standard input is copied to a temporary file, since the file is read twice. */
export class Source {
  readonly name: string;
  readonly #directory: string | null;
  readonly #path: string;
  readonly #size: number;
  #read = 0;

  private constructor(name: string, path: string, size: number, directory: string | null) {
    this.name = name;
    this.#path = path;
    this.#size = size;
    this.#directory = directory;
  }

  /**
   * Opens the file, before anything else is done, so that a missing file changes nothing.
   * @param kept called with the number of bytes copied from standard input so far
   * @throws OperatorError
   */
  static async open(file: string, kept: (bytes: number) => void): Promise<Source> {
    if (file === '-') return Source.#keep(kept);
    try {
      const stats = await stat(file);
      if (!stats.isDirectory()) {
        await (await open(file)).close();
        return new Source(file, file, stats.size, null);
      }
    } catch (error) {
      throw new OperatorError(`--file: ${(error as Error).message}`);
    }
    throw new OperatorError(`--file: EISDIR: ${file} is a directory`);
  }

  static async #keep(kept: (bytes: number) => void): Promise<Source> {
    const directory = await mkdtemp(join(tmpdir(), 'record-service-'));
    const path = join(directory, 'rows');
    let bytes = 0;
    const chunks = async function* () {
      for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        yield chunk;
        kept(bytes);
      }
    };
    try {
      await writeFile(path, chunks(), { mode: 0o600 });
    } catch (error) {
      await rm(directory, { recursive: true, force: true });
      throw new OperatorError(`the standard input could not be kept: ${(error as Error).message}`);
    }
    return new Source('', path, bytes, directory);
  }

  async *read(): AsyncGenerator<Buffer> {
    this.#read = 0;
    const handle = await open(this.#path);
    for await (const chunk of handle.createReadStream({ highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>) {
      this.#read += chunk.length;
      yield chunk;
    }
  }

  /** Share of the file that has been read, from 0 to 1; `undefined` for an empty one. */
  share(): number | undefined {
    return this.#size === 0 ? undefined : this.#read / this.#size;
  }

  async close(): Promise<void> {
    if (this.#directory !== null) await rm(this.#directory, { recursive: true, force: true });
  }
}
