import { MINUTE_MS } from '../../kernel/time.ts';

/** Milliseconds between two looks at the clock. */
const LOOK_MS = 1_000;
/** Milliseconds by which it has to be off to have been set; less is corrected now and then. */
const JUMP_MS = 1_000;

/** Milliseconds by which the clock of another process may be ahead, or may have been before the start, without having been set. */
const SKEW_MS = MINUTE_MS;

/** Notices that the clock on the wall was set, forward or back: it goes otherwise then than the one that never does. */
export class ClockWatch {
  readonly #jumped: () => void;
  readonly #wall: () => number;
  readonly #steady: () => number;
  #offset: number;
  #jumps = 0;
  /** The number of jumps when the schedules of a system were last looked at. */
  readonly #seen = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param jumped told within a second
   * @param wall milliseconds since 1970
   * @param steady milliseconds that only grow
   */
  constructor(jumped: () => void, wall = () => Date.now(), steady = () => performance.now()) {
    this.#jumped = jumped;
    this.#wall = wall;
    this.#steady = steady;
    this.#offset = wall() - steady();
  }

  start(): void {
    this.#timer ??= setInterval(() => this.look(), LOOK_MS).unref();
  }

  /** How often the clock was set so far, as of now. */
  get jumps(): number {
    this.look();
    return this.#jumps;
  }

  /** By how much the next runs of a system may be further ahead than its schedules say, in milliseconds (`runDue`). */
  skewOf(appId: string): number {
    const seen = this.#seen.get(appId);
    if (seen === undefined) return SKEW_MS;
    return seen === this.jumps ? Number.POSITIVE_INFINITY : 0;
  }

  /** The schedules of a system were looked at. @param jumps as of before */
  seen(appId: string, jumps: number): void {
    this.#seen.set(appId, jumps);
  }

  look(): void {
    const offset = this.#wall() - this.#steady();
    const isJump = Math.abs(offset - this.#offset) >= JUMP_MS;
    this.#offset = offset;
    if (!isJump) return;
    this.#jumps++;
    this.#jumped();
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
