import { MINUTE_MS } from '../../kernel/time.ts';

/** Interval at which the clock is checked. */
const POLL_INTERVAL_MS = 1_000;
/** Minimum deviation that counts as a jump; smaller corrections are normal. */
const MIN_JUMP_MS = 1_000;

/** Tolerated difference to the clock of another process, or to this machine's clock before the start. */
const MAX_SKEW_MS = MINUTE_MS;

/** Detects that the wall clock was set, forward or back, by comparison with the monotonic clock. */
export class ClockWatch {
  readonly #jumped: () => void;
  readonly #wall: () => number;
  readonly #steady: () => number;
  #offset: number;
  #jumps = 0;
  /** Number of jumps when the schedules of a system were last checked. */
  readonly #seen = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param jumped called within a second after a jump
   * @param wall milliseconds since 1970
   * @param steady monotonic milliseconds
   */
  constructor(jumped: () => void, wall = () => Date.now(), steady = () => performance.now()) {
    this.#jumped = jumped;
    this.#wall = wall;
    this.#steady = steady;
    this.#offset = wall() - steady();
  }

  start(): void {
    this.#timer ??= setInterval(() => this.check(), POLL_INTERVAL_MS).unref();
  }

  /** Number of jumps so far. */
  get jumps(): number {
    this.check();
    return this.#jumps;
  }

  /** Returns how much further ahead than computed the next runs of a system may be, in milliseconds (`runDue`). */
  skewOf(appId: string): number {
    const seen = this.#seen.get(appId);
    if (seen === undefined) return MAX_SKEW_MS;
    return seen === this.jumps ? Number.POSITIVE_INFINITY : 0;
  }

  /** Records that the schedules of a system were checked. @param jumps as read before the check */
  seen(appId: string, jumps: number): void {
    this.#seen.set(appId, jumps);
  }

  check(): void {
    const offset = this.#wall() - this.#steady();
    const isJump = Math.abs(offset - this.#offset) >= MIN_JUMP_MS;
    this.#offset = offset;
    if (!isJump) return;
    this.#jumps++;
    this.#jumped();
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
