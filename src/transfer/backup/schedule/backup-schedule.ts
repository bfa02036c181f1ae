import type { BackupSettings } from '../../../config/index.ts';
import { nextCronRun, parseCron } from '../../../kernel/cron.ts';
import { DAY_MS, isoText } from '../../../kernel/time.ts';
import type { Logger } from '../../../observe/index.ts';
import { type BackupOutcome, BackupProcess } from './backup-process.ts';
import type { BackupTurns } from './backup-turns.ts';

/** Interval for checking whether a backup is due. Short, because the wall clock may be changed. */
const POLL_INTERVAL_MS = 1_000;
/** Interval for checking whether a terminated process left a backup unfinished. */
const TAKE_OVER_INTERVAL_MS = 30_000;
/** Tolerance in milliseconds by which the last check may be ahead of the clock; more means that the clock was set back. */
const MAX_SKEW_MS = 5_000;

/** Dependencies of the schedule. */
export interface BackupScheduleParts {
  readonly settings: BackupSettings;
  readonly turns: BackupTurns;
  /** The main script of this process. */
  readonly program: string;
  readonly log: Logger;
  /** Notifies the administrators of systems that their backup failed. @param appIds `null` for all systems. Never rejects. */
  readonly notify: (appIds: readonly string[] | null, dueAt: number) => Promise<void>;
}

/**
 * Backs up all systems at the times of `BACKUP_CRON`; one of all processes does so, in a child process. A backup that falls due during another one
 * waits
 * for it; of several missed ones, one is made. Reference: backup.md#scheduled-backups.
 */
export class BackupSchedule {
  readonly #parts: BackupScheduleParts;
  readonly #timer: NodeJS.Timeout;
  /** Due times up to here have been handled. */
  #checkedUntil = Date.now();
  #takeOverCheckedAt = 0;
  #isPolling = false;
  #running: BackupProcess | undefined;
  #closed = false;

  constructor(parts: BackupScheduleParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => void this.#poll(), POLL_INTERVAL_MS);
    this.#timer.unref();
  }

  async #poll(): Promise<void> {
    if (this.#isPolling || this.#closed) return;
    this.#isPolling = true;
    const { turns, log } = this.#parts;
    try {
      const now = Date.now();
      const due = this.#due(now);
      if (due !== null && (await turns.take(due))) await this.#run(due);
      else if (now - this.#takeOverCheckedAt >= TAKE_OVER_INTERVAL_MS || now < this.#takeOverCheckedAt) {
        this.#takeOverCheckedAt = now;
        const left = await turns.takeLeft();
        if (left !== null) await this.#run(left);
      }
    } catch (error) {
      log.error({ err: error }, 'it was not to be found out whether a backup is due');
    } finally {
      this.#isPolling = false;
    }
  }

  /** Returns the latest due time since the last check; `null` if there is none. */
  #due(now: number): number | null {
    const cron = parseCron(this.#parts.settings.cron, 'UTC');
    // After a long sleep or a change of the clock, only the last day counts.
    const from = this.#checkedUntil > now + MAX_SKEW_MS ? now - 1 : Math.max(this.#checkedUntil, now - DAY_MS);
    let due: number | null = null;
    for (let next = cron && nextCronRun(cron, from); cron && next !== null && next <= now; next = nextCronRun(cron, next))
      due = next;
    this.#checkedUntil = Math.max(from, now);
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
    // Another process or the next start repeats it.
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

  /** Terminates a backup in progress, which leaves nothing behind. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closed = true;
    const running = this.#running;
    running?.end();
    await running?.outcome.catch(() => {});
  }
}
