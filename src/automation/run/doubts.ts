/** Milliseconds after a write of which nobody knows whether it was carried out, until what it may have queued is looked for. */
const pauses = [500, 5_000];

/** Systems with such writes. */
export class Doubts {
  readonly #call: (appId: string, schedules: boolean) => void;
  /** By the time after which they are looked at. */
  readonly #systems = new Map(pauses.map((pause) => [pause, new Map<string, { schedules: boolean }>()] as const));

  /** @param call looks at a system, and at its schedules where a definition may have been written */
  constructor(call: (appId: string, schedules: boolean) => void) {
    this.#call = call;
  }

  /** The write may have been carried out, at once or a little later. */
  add(appId: string, schedules: boolean): void {
    for (const [pause, systems] of this.#systems) {
      const known = systems.get(appId);
      if (known) known.schedules ||= schedules;
      else {
        const doubt = { schedules };
        systems.set(appId, doubt);
        setTimeout(() => {
          systems.delete(appId);
          this.#call(appId, doubt.schedules);
        }, pause).unref();
      }
    }
  }
}
