import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { BackupSettings } from '../../../config/index.ts';

/** The same V8 flags as the launcher sets for commands (`flagsOf`): bulk work produces short-lived strings. They have no effect once V8 runs. */
const BOUNDED_HEAP = ['--max-semi-space-size=8', '--heap-growing-percent=100'];
/** Maximum number of characters kept from stderr. */
const MAX_MESSAGE_LENGTH = 2_000;

/** Result of backing up all systems. */
export interface BackupOutcome {
  /** Per completed backup: its line of `backup --json`. */
  readonly made: readonly object[];
  /** Error by system, for backups that failed. */
  readonly failed: ReadonlyMap<string, string>;
  /** Error if the command failed as a whole; else `null`. */
  readonly failure: string | null;
}

/** Runs `record-service backup` in a child process, so that it uses neither the event loop nor the memory of the server. */
export class BackupProcess {
  readonly outcome: Promise<BackupOutcome>;
  readonly #child: ChildProcess;

  /** @param program the main script of this process */
  constructor(program: string, { url, keep, recipients }: BackupSettings) {
    const options = ['--to', url, '--json', ...(keep === undefined ? [] : ['--keep', keep])];
    for (const recipient of recipients) options.push('--recipient', recipient);
    this.#child = spawn(process.execPath, [...process.execArgv, ...BOUNDED_HEAP, program, 'backup', ...options], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.outcome = this.#run();
  }

  /** Terminates the process; an unfinished backup leaves nothing behind. */
  end(): void {
    this.#child.kill();
  }

  async #run(): Promise<BackupOutcome> {
    const made: object[] = [];
    const failed = new Map<string, string>();
    let messages = '';
    const { stdout, stderr } = this.#child;
    if (!stdout || !stderr) throw new Error('a child without streams');
    const ended = new Promise<string | null>((resolve) => {
      this.#child.once('error', (error) => resolve(error.message));
      // Exit code 2: completed, with missing parts that stderr reported.
      this.#child.once('close', (code, signal) => resolve(code === 0 || code === 2 ? null : `it ended with ${signal ?? code}`));
    });
    const out = readLines(stdout, (line) => {
      const row = parsed(line);
      if (row) made.push(row);
    });
    const err = readLines(stderr, (line) => {
      const row = parsed(line);
      if (typeof row?.appId === 'string' && typeof row.error === 'string') failed.set(row.appId, row.error);
      else if (!row) messages = `${messages}${messages === '' ? '' : '; '}${line}`.slice(-MAX_MESSAGE_LENGTH);
    });
    const [end] = await Promise.all([ended, out, err]);
    return { made, failed, failure: end === null || failed.size > 0 ? null : messages || end };
  }
}

async function readLines(stream: NodeJS.ReadableStream, take: (line: string) => void): Promise<void> {
  for await (const line of createInterface({ input: stream })) take(line);
}

function parsed(line: string): { appId?: unknown; error?: unknown } | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
