import type { Command } from 'commander';

/** Output options of a long command. */
export interface ProgressOptions {
  readonly quiet?: true;
  readonly json?: true;
}

/** Progress of a long command. */
export interface Progress {
  /** Short description of the current step. */
  readonly what: string;
  /** Number of `unit`s done. */
  readonly done: number;
  readonly unit: string;
  /** Share of the whole work that is done, from 0 to 1, if known. */
  readonly share?: number | undefined;
}

/** Output for progress. */
export interface Screen {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Minimum interval between updates in milliseconds, on a terminal and elsewhere. */
const TERMINAL_INTERVAL_MS = 200;
const LOG_INTERVAL_MS = 10_000;

/** Adds `--quiet` and `--json` to a long command. */
export function addProgressOptions(command: Command): Command {
  return command.option('--quiet', 'show no progress').option('--json', 'print one JSON object a line, progress included');
}

/**
 * Reports the progress of a long command on stderr: on a terminal one line that is rewritten, with rate and time left; otherwise a line every ten
 * seconds. Reference: commands.md#progress.
 */
export class ProgressReporter {
  readonly #options: ProgressOptions;
  readonly #screen: Screen;
  readonly #now: () => number;
  #began: number;
  #shownAt: number;
  #onScreen = false;

  /** @param now milliseconds of a monotonic clock */
  constructor(options: ProgressOptions, screen: Screen = process.stderr, now: () => number = () => performance.now()) {
    this.#options = options;
    this.#screen = screen;
    this.#now = now;
    this.#began = now();
    this.#shownAt = this.#began;
  }

  /** Starts a new step, whose rate and time left count from here. */
  begin(): void {
    this.#began = this.#now();
  }

  /** Shows the progress, unless the last update is too recent. */
  progress(progress: Progress): void {
    const now = this.#now();
    const isRenewed = this.#screen.isTTY === true && !this.#options.json;
    if (this.#options.quiet || now - this.#shownAt < (isRenewed ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS)) return;
    this.#shownAt = now;
    const seconds = Math.max(now - this.#began, 1) / 1000;
    const perSecond = Math.round(progress.done / seconds);
    const { share } = progress;
    const secondsLeft = share === undefined || share <= 0 ? null : Math.round((seconds * (1 - share)) / share);
    const line = this.#options.json
      ? JSON.stringify({ progress: progress.what, done: progress.done, unit: progress.unit, perSecond, secondsLeft })
      : textOf(progress, perSecond, secondsLeft);
    this.#screen.write(isRenewed ? `\r\x1b[K${line}` : `${line}\n`);
    this.#onScreen = isRenewed;
  }

  /** Writes a permanent line. @param object its JSON form */
  note(text: string, object: object): void {
    this.clear();
    this.#screen.write(`${this.#options.json ? JSON.stringify(object) : text}\n`);
  }

  /** Clears the progress line of the terminal. */
  clear(): void {
    if (this.#onScreen) this.#screen.write('\r\x1b[K');
    this.#onScreen = false;
  }
}

function textOf({ what, done, unit }: Progress, perSecond: number, secondsLeft: number | null): string {
  const rate = `${what}: ${grouped(done)} ${unit}, ${grouped(perSecond)} a second`;
  return secondsLeft === null ? rate : `${rate}, ${clock(secondsLeft)} left`;
}

/** Formats as `1,234,567`. `Intl` formats take up to a second to load. */
const grouped = (count: number) => String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');

/** Formats as `1:05` or `2:00:07`. */
function clock(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown.map((part, at) => (at === 0 ? part : String(part).padStart(2, '0'))).join(':');
}
