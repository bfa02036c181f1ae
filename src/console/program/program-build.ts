import { type ChildProcess, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../../observe/index.ts';
import { type BuiltProgram, readProgram } from './built-program.ts';
import { hasSources, packageDir, programDir } from './location.ts';

/** Whether the program can be served. */
export type BuildState = 'building' | 'failed' | BuiltProgram;

/** So much of what a build says is logged, in characters. */
const MAX_OUTPUT_LENGTH = 4_000;
/** Of the operating system: what serves goes first. */
const LOW_PRIORITY = 10;

/**
 * Finds the program of the console, or builds it in another process where it is not built yet (CONTRACT "Console"). No fault of it reaches
 * the service.
 */
export class ProgramBuild {
  readonly #log: Logger;
  #state: BuildState = 'building';
  #begun: Promise<void> | undefined;
  #child: ChildProcess | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Begins at the first call. */
  get state(): BuildState {
    this.begin();
    return this.#state;
  }

  /** Begins, where it has not begun. @returns resolves when it is known whether there is a program */
  begin(): Promise<void> {
    this.#begun ??= this.#find().catch((error: unknown) => {
      this.#state = 'failed';
      this.#log.error({ err: error }, 'the console cannot be shown: it was not built; all else goes on');
    });
    return this.#begun;
  }

  /** Ends a build that is under way. */
  close(): void {
    this.#child?.kill();
  }

  async #find(): Promise<void> {
    const directory = programDir();
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

  /** @throws Error that holds the end of what the build said */
  #build(): Promise<void> {
    const child = spawn(process.execPath, [...process.execArgv, join(packageDir, 'scripts/build-console.ts')], {
      cwd: packageDir,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    let output = '';
    const note = (text: Buffer) => {
      output = (output + text.toString()).slice(-MAX_OUTPUT_LENGTH);
    };
    child.stdout.on('data', note);
    child.stderr.on('data', note);
    try {
      if (child.pid !== undefined) setPriority(child.pid, LOW_PRIORITY);
    } catch {
      // It has ended already, or may not be slowed down.
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
