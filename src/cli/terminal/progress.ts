import type { Command } from 'commander';

/** How a long command tells of itself. */
export interface TellOptions {
  readonly quiet?: true;
  readonly json?: true;
}

/** Where something long is. */
export interface Progress {
  /** In a few words. */
  readonly what: string;
  /** How much is done, of what `unit` says. */
  readonly done: number;
  readonly unit: string;
  /** How much of all the work is done, from 0 to 1, where that is known. */
  readonly share?: number | undefined;
}

/** Where progress is shown. */
export interface Screen {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Milliseconds between two signs of progress: where a person watches, and elsewhere. */
const TERMINAL_INTERVAL_MS = 200;
const LOG_INTERVAL_MS = 10_000;

/** Adds `--quiet` and `--json` to a long command. */
export function addTellOptions(command: Command): Command {
  return command.option('--quiet', 'show no progress').option('--json', 'print one JSON object a line, progress included');
}

/**
 * Tells on stderr how a long command goes (CONTRACT "Operations"): a line that renews itself, with rate and time left, on a terminal; a line
 * every ten seconds elsewhere.
 */
export class Teller {
  readonly #options: TellOptions;
  readonly #screen: Screen;
  readonly #now: () => number;
  #began: number;
  #shownAt: number;
  #onScreen = false;

  /** @param now milliseconds, by a clock that never goes back */
  constructor(options: TellOptions, screen: Screen = process.stderr, now: () => number = () => performance.now()) {
    this.#options = options;
    this.#screen = screen;
    this.#now = now;
    this.#began = now();
    this.#shownAt = this.#began;
  }

  /** Other work follows, whose rate and time left count from here. */
  begin(): void {
    this.#began = this.#now();
  }

  /** Shows where the command is, where it is time to. */
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

  /** A line that stays. @param object what it is where JSON is asked for */
  note(text: string, object: object): void {
    this.clear();
    this.#screen.write(`${this.#options.json ? JSON.stringify(object) : text}\n`);
  }

  /** Takes the progress off the terminal. */
  clear(): void {
    if (this.#onScreen) this.#screen.write('\r\x1b[K');
    this.#onScreen = false;
  }
}

function textOf({ what, done, unit }: Progress, perSecond: number, secondsLeft: number | null): string {
  const rate = `${what}: ${grouped(done)} ${unit}, ${grouped(perSecond)} a second`;
  return secondsLeft === null ? rate : `${rate}, ${clock(secondsLeft)} left`;
}

/** `1,234,567`. Node's formats by language take up to a second to load. */
const grouped = (count: number) => String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');

/** `1:05`, `2:00:07`. */
function clock(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown.map((part, at) => (at === 0 ? part : String(part).padStart(2, '0'))).join(':');
}
