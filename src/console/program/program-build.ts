import { type ChildProcess, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../../observe/index.ts';
import { type BuiltProgram, readProgram } from './built-program.ts';
import { hasSources, packageDir, programDir } from './location.ts';

/** The state of the program. */
export type BuildState = 'building' | 'failed' | BuiltProgram;

/** Maximum length of a build's output in the log, in characters. */
const MAX_OUTPUT_LENGTH = 4_000;
/** Priority of the build process: the service goes first. */
const LOW_PRIORITY = 10;

/**
 * Loads the program of the console, or builds it in another process if necessary. A failure does not affect the service. Reference:
 * console.md#addresses-of-the-console.
 */
export class ProgramBuild {
  readonly #log: Logger;
  #state: BuildState = 'building';
  #begun: Promise<void> | undefined;
  #child: ChildProcess | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Starts loading on first use. */
  get state(): BuildState {
    this.begin();
    return this.#state;
  }

  /** Starts loading, once. @returns resolves when the outcome is known */
  begin(): Promise<void> {
    this.#begun ??= this.#find().catch((error: unknown) => {
      this.#state = 'failed';
      this.#log.error({ err: error }, 'the console cannot be shown: it was not built; all else goes on');
    });
    return this.#begun;
  }

  /** Aborts a running build. */
  close(): void {
    this.#child?.kill();
  }

  async #find(): Promise<void> {
    const directory = await programDir();
    try {
      this.#state = await readProgram(directory);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    if (!hasSources()) throw new Error('this package has no console built: run "npm run build"');
    const began = performance.now();
    await this.#build();
    this.#state = await readProgram(directory);
    this.#log.info({ ms: Math.round(performance.now() - began) }, 'the console was built');
  }

  /** @throws Error that contains the end of the build's output */
  #build(): Promise<void> {
    const child = spawn(process.execPath, [...process.execArgv, join(packageDir, 'scripts/build-console.ts')], {
      cwd: packageDir,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    let output = '';
    const collect = (text: Buffer) => {
      output = (output + text.toString()).slice(-MAX_OUTPUT_LENGTH);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    try {
      if (child.pid !== undefined) setPriority(child.pid, LOW_PRIORITY);
    } catch {
      // The process has ended already, or its priority cannot be changed.
    }
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => {
        this.#child = undefined;
        if (code === 0) resolve();
        else reject(new Error(`the build ended with ${code}: ${output.trim()}`));
      });
    });
  }
}
