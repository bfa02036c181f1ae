import type { Store } from '../../storage/port.ts';

/**
 * Delays after a write with unknown outcome before its jobs are searched for. After an outage there is a further search, because the write may take
 * effect shortly after the store is back.
 */
const RETRY_DELAYS_MS = [500, 5_000];
const DELAY_AFTER_RECOVERY_MS = 500;

interface PendingVisit {
  schedules: boolean;
}

/** Schedules visits to systems with writes whose outcome is unknown. */
export class UncertainWrites {
  readonly #call: (appId: string, schedules: boolean) => void;
  /** Systems waiting for a visit, by delay. */
  readonly #systems = new Map(RETRY_DELAYS_MS.map((pause) => [pause, new Map<string, PendingVisit>()] as const));
  /** Systems to visit when their store is back. */
  readonly #away = new Map<string, PendingVisit>();

  /** @param call visits a system, and checks its schedules if a definition may have been written */
  constructor(call: (appId: string, schedules: boolean) => void) {
    this.#call = call;
  }

  /** Adds a write that may have taken effect, or may do so soon. */
  add(appId: string, schedules: boolean, store: Pick<Store, 'whenBack'>): void {
    for (const [pause, systems] of this.#systems)
      this.#note(systems, appId, schedules, (look) => setTimeout(look, pause).unref());
    this.#note(this.#away, appId, schedules, (look) => {
      void store.whenBack().then(() => setTimeout(look, DELAY_AFTER_RECOVERY_MS).unref());
    });
  }

  #note(among: Map<string, PendingVisit>, appId: string, schedules: boolean, later: (look: () => void) => void): void {
    const pending = among.get(appId);
    if (pending) {
      pending.schedules ||= schedules;
      return;
    }
    const visit = { schedules };
    among.set(appId, visit);
    later(() => {
      among.delete(appId);
      this.#call(appId, visit.schedules);
    });
  }
}
