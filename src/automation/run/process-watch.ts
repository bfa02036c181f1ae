import { MINUTE_MS } from '../../kernel/time.ts';
import type { Systems } from '../../systems/index.ts';
import type { LiveProcesses } from '../queue/live-processes.ts';

/** Poll interval for other processes while no system is open. */
const CLOSED_POLL_INTERVAL_MS = MINUTE_MS;

/** Polls for other processes through any open system; if none is open, now and then opens one for it. */
export class ProcessWatch {
  readonly #processes: LiveProcesses;
  readonly #systems: Systems;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(processes: LiveProcesses, systems: Systems) {
    this.#processes = processes;
    this.#systems = systems;
  }

  /** @throws unavailable */
  async look(): Promise<void> {
    const [first] = this.#systems.opened();
    if (first) {
      this.#lookedAt = performance.now();
      await this.#processes.alive(first.store);
    } else if (performance.now() - this.#lookedAt > CLOSED_POLL_INTERVAL_MS) {
      this.#lookedAt = performance.now();
      const [appId] = await this.#systems.appIds();
      if (appId !== undefined) await this.#systems.visit(appId, async ({ store }) => void (await this.#processes.alive(store)));
    }
  }
}
