import { crc32 } from 'node:zlib';
import { isPassing } from '../errors/fail.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../kernel/time.ts';
import type { SystemEntry } from '../storage/registry.ts';
import type { System } from './system.ts';
import type { Systems } from './systems.ts';

/** Name of the lease by which the processes agree on who visits a system. */
const LEASE = 'daily visit';

const MINUTES_A_DAY = DAY_MS / MINUTE_MS;

/** A system's minute of the day. By its id, so that visits are spread evenly and do not depend on when a process started. */
const minuteOf = ({ appId }: Pick<SystemEntry, 'appId'>) => crc32(appId) % MINUTES_A_DAY;

/** Minutes since 1970. */
const minuteNow = () => Math.floor(Date.now() / MINUTE_MS);

/** Visits each system that is closed once a day, for periodic work that is only due while systems are open: rows of unused ones get old, too. */
export class DailyVisits {
  readonly #systems: Pick<Systems, 'closed' | 'cluster' | 'visit'>;
  readonly #work: (system: System) => Promise<void>;
  readonly #reportFault: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;
  #isClosed = false;
  /** The last minute whose systems were visited. */
  #done = minuteNow();

  /** @param work checks by itself whether the service is ending */
  constructor(
    systems: Pick<Systems, 'closed' | 'cluster' | 'visit'>,
    work: (system: System) => Promise<void>,
    reportFault: (error: unknown) => void,
  ) {
    this.#systems = systems;
    this.#work = work;
    this.#reportFault = reportFault;
    this.#timer = setInterval(() => this.#start(), MINUTE_MS).unref();
  }

  #start(): void {
    this.#running ??= this.#round()
      .catch((error) => this.#report(error))
      .finally(() => {
        this.#running = undefined;
      });
  }

  async #round(): Promise<void> {
    const now = minuteNow();
    // Minutes since the last round; none if the clock was set back, and no system twice after a long sleep of the machine.
    const passed = Math.min(Math.max(0, now - this.#done), MINUTES_A_DAY);
    this.#done = now;
    for (const one of await this.#systems.closed()) {
      const ago = (((now - minuteOf(one)) % MINUTES_A_DAY) + MINUTES_A_DAY) % MINUTES_A_DAY;
      if (ago >= passed) continue;
      if (this.#isClosed) return;
      await this.#visit(one).catch((error) => this.#report(error));
    }
  }

  async #visit({ appId, place }: Pick<SystemEntry, 'appId' | 'place'>): Promise<void> {
    // Claimed before the system is opened, which costs more. Less than a day, because the clocks of processes differ.
    if (await this.#systems.cluster.takeLease(place, LEASE, DAY_MS - HOUR_MS)) await this.#systems.visit(appId, this.#work);
  }

  /** What a passing fault prevented waits for the next day, or until the system is used. */
  #report(error: unknown): void {
    if (!isPassing(error)) this.#reportFault(error);
  }

  /** Waits for the visit in progress. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#isClosed = true;
    await this.#running;
  }
}
