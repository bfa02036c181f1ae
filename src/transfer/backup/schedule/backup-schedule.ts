import type { BackupSettings } from '../../../config/index.ts';
import { nextCronRun, parseCron } from '../../../kernel/cron.ts';
import { DAY_MS, isoText } from '../../../kernel/time.ts';
import type { Logger } from '../../../observe/index.ts';
import { type BackupOutcome, BackupProcess } from './backup-process.ts';
import type { BackupTurns } from './backup-turns.ts';

/** How often it is looked whether a backup is due, in milliseconds: by the clock as it is then. */
const LOOK_MS = 1_000;
/** How often it is looked whether one was left by a process that has ended. */
const LOOK_FOR_LEFT_MS = 30_000;
/** How much further ahead than now the last look may be, in milliseconds: else the clock was set back. */
const MAX_SKEW_MS = 5_000;

/** What the schedule stands on. */
export interface BackupScheduleParts {
  readonly settings: BackupSettings;
  readonly turns: BackupTurns;
  /** The file that this process was started with. */
  readonly program: string;
  readonly log: Logger;
  /** Tells the administrators of systems that their backup failed. @param appIds `null`: of all. Never rejects. */
  readonly notify: (appIds: readonly string[] | null, dueAt: number) => Promise<void>;
}

/**
 * Backs up all systems by the clock (CONTRACT "Backup and restore": BACKUP_CRON), one process among many for all, each time in a process of
 * its own. One that is due while the one before is under way waits for it; of several that were missed one is made.
 */
export class BackupSchedule {
  readonly #parts: BackupScheduleParts;
  readonly #timer: NodeJS.Timeout;
  /** Up to where it was looked for due ones. */
  #looked = Date.now();
  #lookedForLeft = 0;
  #isLooking = false;
  #running: BackupProcess | undefined;
  #closed = false;

  constructor(parts: BackupScheduleParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    if (this.#isLooking || this.#closed) return;
    this.#isLooking = true;
    const { turns, log } = this.#parts;
    try {
      const now = Date.now();
      const due = this.#due(now);
      if (due !== null && (await turns.take(due))) await this.#run(due);
      else if (now - this.#lookedForLeft >= LOOK_FOR_LEFT_MS || now < this.#lookedForLeft) {
        this.#lookedForLeft = now;
        const left = await turns.takeLeft();
        if (left !== null) await this.#run(left);
      }
    } catch (error) {
      log.error({ err: error }, 'it was not to be found out whether a backup is due');
    } finally {
      this.#isLooking = false;
    }
  }

  /** The last one that has become due since the last look; `null`: none has. */
  #due(now: number): number | null {
    const cron = parseCron(this.#parts.settings.cron, 'UTC');
    // Of a long sleep, or a clock that was set, only the last day counts.
    const from = this.#looked > now + MAX_SKEW_MS ? now - 1 : Math.max(this.#looked, now - DAY_MS);
    let due: number | null = null;
    for (let next = cron && nextCronRun(cron, from); cron && next !== null && next <= now; next = nextCronRun(cron, next))
      due = next;
    this.#looked = Math.max(from, now);
    return due;
  }

  async #run(due: number): Promise<void> {
    const { settings, turns, program, log, notify } = this.#parts;
    const began = performance.now();
    const process = new BackupProcess(program, settings);
    this.#running = process;
    const outcome = await process.outcome.catch(
      (error): BackupOutcome => ({ made: [], failed: new Map(), failure: (error as Error).message }),
    );
    this.#running = undefined;
    // Another process, or the next start, makes it anew.
    if (this.#closed) return;
    const ms = Math.round(performance.now() - began);
    const about = { due: isoText(due), ms };
    if (outcome.made.length > 0) log.info({ ...about, backups: outcome.made }, 'backups were made');
    for (const [app, reason] of outcome.failed) log.error({ ...about, app, reason }, 'the backup of a system failed');
    if (outcome.failure !== null) log.error({ ...about, reason: outcome.failure }, 'the backup failed');
    await turns.end(due);
    if (outcome.failure !== null) await notify(null, due);
    else if (outcome.failed.size > 0) await notify([...outcome.failed.keys()], due);
  }

  /** Ends a backup that is under way, which leaves nothing then. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closed = true;
    const running = this.#running;
    running?.end();
    await running?.outcome.catch(() => {});
  }
}
