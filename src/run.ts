import { isAbsolute, relative } from 'node:path';
import type { App } from './app.ts';
import { type Actions, addFirstSystem, runProgram } from './cli/index.ts';
import type { CommandContext, Use } from './command-context.ts';
import { type Config, INSTALLATION, loadSettings, type Settings } from './config/index.ts';
import { isUnavailable, ServiceError } from './errors/fail.ts';
import { OperatorError } from './kernel/operator-error.ts';
import type { LifecycleLog } from './lifecycle-log.ts';
import {
  beWorker,
  checkInstallation,
  Fleet,
  fixedSettings,
  isHungUp,
  isWorker,
  Reloads,
  reportListening,
  stopRequested,
} from './processes/index.ts';
import { tuneForRequests } from './v8-tuning.ts';

const print = (line: string) => console.log(line);

// app.ts and command-context.ts are imported after the settings have been read, so that a malformed setting is reported at once and as a single line.
const actions: Actions = {
  async start() {
    tuneForRequests();
    if (isWorker) beWorker();
    const settings = loadSettings(process.cwd());
    if (isWorker) await serveAsWorker(settings);
    else if (settings.config.webConcurrency > 1) await serveAsPrimary(settings);
    else await serveAlone(settings);
  },
  async move(to, events) {
    const { config, secrets } = loadSettings(process.cwd());
    const { moveStores } = await import('./move.ts');
    return moveStores(config, secrets.databaseUrl, to, events);
  },
  async undoMoveMark() {
    const { config, secrets } = loadSettings(process.cwd());
    const { undoMoveMark } = await import('./move.ts');
    await undoMoveMark(config, secrets.databaseUrl);
  },
  async checkService(report) {
    const [{ checkService }, { lookAtStores }] = await Promise.all([import('./checks/index.ts'), import('./stores.ts')]);
    return checkService(() => loadSettings(process.cwd()), lookAtStores, report);
  },
  ask,
  withAdministration: (work, use = 'used') =>
    withCommandContext(use, ({ administration, contextOf }) => work(administration, contextOf)),
  withRecords: (appId, work) =>
    withCommandContext('used', (command) =>
      command.withRecords(appId, (context) =>
        work(
          context,
          () => command.otherProcesses(),
          () => command.files(),
        ),
      ),
    ),
  describe: (appId, tables) => withCommandContext('used', (command) => command.describe(appId, tables)),
  withBackups: (work, use = 'used') => withCommandContext(use, ({ backups }) => work(backups)),
  withClones: (work) => withCommandContext('used', ({ clones }) => work(clones)),
  withFiles: (appId, work) => withCommandContext('used', (context) => context.withFiles(appId, work)),
};

/** @param address on which the service listens */
function printAddress({ baseUrl = '' }: Config, address: string): void {
  // Written at once, since programs that start the service wait for the first line.
  print(`Record Data Service listening on ${address}\nConsole: ${baseUrl || address}/console/`);
}

async function serveAlone({ config, secrets }: Settings): Promise<void> {
  const { createApp } = await import('./app.ts');
  const life = await lifecycleOf({ config, secrets });
  const faults = (await import('./faults.ts')).faultsOf(config);
  process.on('uncaughtException', faults.report);
  const app = await createApp(config, secrets);
  let cause: 'signal' | 'fault' = 'fault';
  try {
    const stopped = stopSignal(life, () => life.cannotReload());
    await addFirstSystem(app.administration, app.contextOf, secrets, config.dataDir, { print, stranger: life.stranger });
    const address = await app.listen();
    printAddress(config, address);
    life.started(app.administration.systems().length, address);
    await Promise.race([stopped, faults.first]);
    cause = 'signal';
  } finally {
    life.stopping('fault');
    await app.close(cause);
    life.stopped();
  }
  faults.check();
}

/** WEB_CONCURRENCY: this process creates the first system and starts the workers. */
async function serveAsPrimary({ config, secrets }: Settings): Promise<void> {
  const life = await lifecycleOf({ config, secrets });
  const faults = (await import('./faults.ts')).faultsOf(config);
  process.on('uncaughtException', faults.report);
  const reloads = new Reloads(config, life, () => loadSettings(process.cwd()));
  const stopped = stopSignal(life, () => reloads.request());
  const { systems, installation } = await withCommandContext('first', async ({ administration, contextOf }) => {
    await addFirstSystem(administration, contextOf, secrets, config.dataDir, { print, stranger: life.stranger });
    return { systems: administration.systems().length, installation: administration.installation };
  });
  const metrics = await serveWorkerMetrics({ config, secrets });
  const fleet = new Fleet(config.webConcurrency, { ...fixedSettings(config), [INSTALLATION]: installation });
  try {
    await fleet.serve(Promise.race([stopped, faults.first]), {
      listening(address) {
        printAddress(config, address);
        life.started(systems, address);
        reloads.begin(fleet);
      },
    });
  } finally {
    life.stopping('fault');
    await metrics.close();
    life.stopped();
  }
  faults.check();
}

/** Collects the metrics of all workers; a reload may turn them on. Must precede the start of the first worker. */
async function serveWorkerMetrics({ config }: Settings): Promise<{ close(): Promise<void> }> {
  const { WorkerMetrics } = await import('./metrics/exchange.ts');
  const { scrape } = new WorkerMetrics();
  if (!config.metrics) return { async close() {} };
  const [{ listenForScrapes }, { createLog }] = await Promise.all([import('./metrics/index.ts'), import('./observe/index.ts')]);
  return listenForScrapes(config.metrics, scrape, createLog(config.logLevel));
}

const hasMetrics = ({ config, secrets }: Settings): boolean => config.metrics !== undefined || secrets.metricsToken !== undefined;

/** A worker. The primary process tells it when to stop. */
async function serveAsWorker(settings: Settings): Promise<void> {
  let app: App | undefined;
  let isStopped = false;
  const stopped = stopRequested({ drain: () => app?.drain(), retire: async () => app?.retire() }).finally(
    () => (isStopped = true),
  );
  const { faultsOf } = await import('./faults.ts');
  const faults = faultsOf(settings.config);
  process.on('uncaughtException', faults.report);
  const exchange = hasMetrics(settings) ? await import('./metrics/exchange.ts') : undefined;
  let passOn: (() => Promise<void>) | undefined;
  let cause: 'signal' | 'fault' = 'fault';
  try {
    const { createApp } = await import('./app.ts');
    app = await createApp(settings.config, settings.secrets, exchange?.scrapeByPrimary());
    if (app.metrics) passOn = exchange?.reportToPrimary(app.metrics);
    checkInstallation(app.administration.installation);
    // The service may have been stopped meanwhile; listening would open its socket again.
    if (!isStopped) reportListening(await app.listen());
    await Promise.race([stopped, faults.first]);
    cause = 'signal';
  } finally {
    await app?.close(cause);
    await passOn?.();
    // The channel would keep the process alive.
    process.disconnect?.();
  }
  faults.check();
}

async function ask(question: string): Promise<string | null> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return null;
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // End of input counts as an empty answer.
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    return await Promise.race([lines.question(question), ended]);
  } finally {
    lines.close();
  }
}

async function withCommandContext<T>(use: Use, work: (context: CommandContext) => T | Promise<T>): Promise<T> {
  const { config, secrets } = loadSettings(process.cwd());
  const { openCommandContext } = await import('./command-context.ts');
  const context = await openCommandContext(config, secrets, use);
  try {
    return await work(context);
  } finally {
    await context.close();
  }
}

async function lifecycleOf({ config, secrets }: Settings): Promise<LifecycleLog> {
  const { lifecycleLog, warnOfShortKeys } = await import('./lifecycle-log.ts');
  warnOfShortKeys(config, secrets);
  return lifecycleLog(config, secrets.databaseUrl === undefined ? 'sqlite' : 'postgres');
}

/**
 * Resolves at the first SIGTERM or SIGINT, or when the terminal hangs up; a second one exits at once.
 * @param hup called at a SIGHUP that somebody has sent
 */
function stopSignal(life: LifecycleLog, hup: () => void): Promise<void> {
  return new Promise((resolve) => {
    let stopped = false;
    const stop = (signal: NodeJS.Signals) => {
      life.stopping(signal);
      resolve();
    };
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => {
        if (stopped) process.exit(1);
        stopped = true;
        stop(signal);
      });
    // npm, and the launcher, send SIGTERM when the terminal is gone: that one is not the second.
    process.on('SIGHUP', (signal) => (isHungUp() ? stop(signal) : stopped || hup()));
  });
}

/** Whether this is an error of the operating system (port in use, directory not writable) or of a database file. */
function isSystemError(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^E[A-Z]+$|^ERR_SQLITE_ERROR$/.test(code);
}

/** Returns the setting to check, if one is the likely cause. */
function hintFor(error: unknown): string {
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  // Other host names are resolved where their faults have messages of their own.
  if (syscall === 'getaddrinfo') return '; check HOST';
  if (syscall === 'listen') return code === 'EADDRINUSE' ? '; set PORT to a free one' : '; check HOST and PORT';
  if (code === 'ERR_SQLITE_ERROR') return dataDirHint(error as Error);
  return typeof path === 'string' && isInDataDir(path) ? '; check DATA_DIR' : '';
}

/** SQLite errors do not name the file. */
function dataDirHint({ message }: Error): string {
  const { dataDir } = loadSettings(process.cwd()).config;
  return message.includes(dataDir) ? '' : `; DATA_DIR is ${dataDir}`;
}

/** Whether a path is in DATA_DIR or is one of its parents. */
function isInDataDir(path: string): boolean {
  const { dataDir } = loadSettings(process.cwd()).config;
  return [relative(dataDir, path), relative(path, dataDir)].some((way) => !way.startsWith('..') && !isAbsolute(way));
}

/**
 * Runs the program. Reference: commands.md#exit-codes.
 * @param args command line arguments
 * @returns the exit code; failures are reported on standard error
 */
export async function run(args: readonly string[]): Promise<number> {
  try {
    return await runProgram(args, actions, print);
  } catch (thrown) {
    const isFault = isUnavailable(thrown);
    // For a passing fault, the message of its cause is more specific. Databases append further lines to some.
    const error = isFault && thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
    const isPlain = isFault || error instanceof OperatorError || error instanceof ServiceError || isSystemError(error);
    if (isPlain) {
      const { message } = error as Error;
      console.error(`record-service: ${isFault ? message.split('\n', 1)[0] : message}${hintFor(error)}`);
    } else console.error(error);
    return 1;
  }
}
