import type { Store } from '../../storage/port.ts';

/**
 * Milliseconds after a write of which nobody knows whether it was carried out, until what it may have queued is looked for; and after the store
 * is back, since it may be carried out a little later.
 */
const pauses = [500, 5_000];
const PAUSE_AFTER_RECOVERY_MS = 500;

interface Doubt {
  schedules: boolean;
}

/** Systems with such writes. */
export class Doubts {
  readonly #call: (appId: string, schedules: boolean) => void;
  /** By the time after which they are looked at. */
  readonly #systems = new Map(pauses.map((pause) => [pause, new Map<string, Doubt>()] as const));
  /** Those that are looked at when their store is back. */
  readonly #away = new Map<string, Doubt>();

  /** @param call looks at a system, and at its schedules where a definition may have been written */
  constructor(call: (appId: string, schedules: boolean) => void) {
    this.#call = call;
  }

  /** The write may have been carried out, at once or a little later. */
  add(appId: string, schedules: boolean, store: Pick<Store, 'whenBack'>): void {
    for (const [pause, systems] of this.#systems)
      this.#note(systems, appId, schedules, (look) => setTimeout(look, pause).unref());
    this.#note(this.#away, appId, schedules, (look) => {
      void store.whenBack().then(() => setTimeout(look, PAUSE_AFTER_RECOVERY_MS).unref());
    });
  }

  #note(among: Map<string, Doubt>, appId: string, schedules: boolean, later: (look: () => void) => void): void {
    const known = among.get(appId);
    if (known) {
      known.schedules ||= schedules;
      return;
    }
    const doubt = { schedules };
    among.set(appId, doubt);
    later(() => {
      among.delete(appId);
      this.#call(appId, doubt.schedules);
    });
  }
}
