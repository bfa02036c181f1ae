import type { Config, Settings } from '../config/index.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import type { Fleet, ReloadResult } from './fleet.ts';

/** Receives what becomes of reloads. */
export interface ReloadLog {
  reloading(config: Config): void;
  reloaded(result: ReloadResult): void;
  reloadFailed(why: string, processes: number): void;
  needsRestart(names: readonly string[]): void;
}

/** Settings of the service as a whole, which its processes keep until it is restarted. Reference: operations.md#reload. */
export const fixedSettings = ({ host, port, dataDir, metrics }: Config) => ({
  HOST: host,
  PORT: String(port),
  DATA_DIR: dataDir,
  // An empty value counts as unset.
  METRICS_HOST: metrics?.host ?? '',
  METRICS_PORT: metrics ? String(metrics.port) : '',
});

/** These, and those that only the primary process uses. */
const restartSettings = (config: Config) => ({
  ...fixedSettings(config),
  METRICS_HOST: config.metrics?.host,
  METRICS_PORT: config.metrics?.port,
});

/** Reloads a service of several processes on request, one reload at a time. Reference: operations.md#reload. */
export class Reloads {
  readonly #started: Config;
  readonly #log: ReloadLog;
  readonly #load: () => Settings;
  #fleet: Pick<Fleet, 'reload' | 'serving'> | undefined;
  #isRequested = false;
  #isRunning = false;

  /** @param started settings of the start @param load reads those of now @throws OperatorError */
  constructor(started: Config, log: ReloadLog, load: () => Settings) {
    this.#started = started;
    this.#log = log;
    this.#load = load;
  }

  /** All processes serve: reloads may begin, as one does that was requested before. */
  begin(fleet: Pick<Fleet, 'reload' | 'serving'>): void {
    this.#fleet = fleet;
    void this.#run(fleet);
  }

  /** Requests a reload. During one, another follows it, however often it was requested. */
  request(): void {
    this.#isRequested = true;
    if (this.#fleet) void this.#run(this.#fleet);
  }

  async #run(fleet: Pick<Fleet, 'reload' | 'serving'>): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#isRequested) {
      this.#isRequested = false;
      try {
        await this.#reload(fleet);
      } catch (error) {
        this.#log.reloadFailed((error as Error).message.split('\n', 1)[0] ?? '', fleet.serving);
      }
    }
    this.#isRunning = false;
  }

  async #reload(fleet: Pick<Fleet, 'reload'>): Promise<void> {
    const { config, secrets } = this.#load();
    if (secrets.databaseUrl === undefined)
      throw new OperatorError('DATABASE_URL: was taken away: restart the service to serve the embedded store');
    this.#log.reloading(config);
    const before = Object.entries(restartSettings(this.#started));
    const now = new Map(Object.entries(restartSettings(config)));
    const changed = before.filter(([name, value]) => now.get(name) !== value).map(([name]) => name);
    if (changed.length > 0) this.#log.needsRestart(changed);
    const result = await fleet.reload(config.webConcurrency);
    if (result) this.#log.reloaded(result);
  }
}
