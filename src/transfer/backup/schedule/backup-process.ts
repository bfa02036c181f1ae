import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { BackupSettings } from '../../../config/index.ts';

/** As the launcher gives commands (`flagsOf`): what goes through many records makes short-lived texts. No effect once the engine runs. */
const BOUNDED_HEAP = ['--max-semi-space-size=8', '--heap-growing-percent=100'];
/** So much of what it says is kept, in characters. */
const MAX_SAID_LENGTH = 2_000;

/** What came of the backups of all systems. */
export interface BackupOutcome {
  /** What each backup that was made is: the lines of `backup --json`. */
  readonly made: readonly object[];
  /** Systems whose backup failed, and why. */
  readonly failed: ReadonlyMap<string, string>;
  /** Why all of it failed; `null` where it did not. */
  readonly failure: string | null;
}

/** `record-service backup` in a process of its own: no work of it is done by the event loop that serves, nor by its memory. */
export class BackupProcess {
  readonly outcome: Promise<BackupOutcome>;
  readonly #child: ChildProcess;

  /** @param program the file that this process was started with */
  constructor(program: string, { url, keep, recipients }: BackupSettings) {
    const options = ['--to', url, '--json', ...(keep === undefined ? [] : ['--keep', keep])];
    for (const recipient of recipients) options.push('--recipient', recipient);
    this.#child = spawn(process.execPath, [...process.execArgv, ...BOUNDED_HEAP, program, 'backup', ...options], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.outcome = this.#run();
  }

  /** Ends it: what it has not finished leaves nothing. */
  end(): void {
    this.#child.kill();
  }

  async #run(): Promise<BackupOutcome> {
    const made: object[] = [];
    const failed = new Map<string, string>();
    let said = '';
    const { stdout, stderr } = this.#child;
    if (!stdout || !stderr) throw new Error('a child without streams');
    const ended = new Promise<string | null>((resolve) => {
      this.#child.once('error', (error) => resolve(error.message));
      // 2: done, though some things are missing, of which it has told.
      this.#child.once('close', (code, signal) => resolve(code === 0 || code === 2 ? null : `it ended with ${signal ?? code}`));
    });
    const out = readLines(stdout, (line) => {
      const row = parsed(line);
      if (row) made.push(row);
    });
    const err = readLines(stderr, (line) => {
      const row = parsed(line);
      if (typeof row?.appId === 'string' && typeof row.error === 'string') failed.set(row.appId, row.error);
      else if (!row) said = `${said}${said === '' ? '' : '; '}${line}`.slice(-MAX_SAID_LENGTH);
    });
    const [end] = await Promise.all([ended, out, err]);
    return { made, failed, failure: end === null || failed.size > 0 ? null : said || end };
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
