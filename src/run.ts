import { isAbsolute, relative } from 'node:path';
import { type Actions, addFirstSystem, runProgram } from './cli/index.ts';
import { type Config, loadSettings, type Settings } from './config/index.ts';
import { isUnavailable, ServiceError } from './errors/fail.ts';
import { OperatorError } from './kernel/operator-error.ts';
import type { LifecycleLog } from './lifecycle-log.ts';
import { endInOrder, isWorker, serveWith, tellListening, toldByStarter } from './processes.ts';
import { tuneForRequests } from './v8-tuning.ts';
import type { Use, Workshop } from './workshop.ts';

const print = (line: string) => console.log(line);

// app.ts and workshop.ts are loaded after the settings were read, so that a malformed one is answered at once and has its line to itself.
const actions: Actions = {
  async start() {
    tuneForRequests();
    const settings = loadSettings(process.cwd());
    if (isWorker) await serveBeside(settings);
    else if (settings.config.webConcurrency > 1) await serveTogether(settings);
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
  ask,
  withAdministration: (work, use = 'used') => inWorkshop(use, ({ administration, contextOf }) => work(administration, contextOf)),
  withRecords: (appId, work) =>
    inWorkshop('used', (workshop) =>
      workshop.withRecords(appId, (context) =>
        work(
          context,
          () => workshop.company(),
          () => workshop.files(),
        ),
      ),
    ),
  withBackups: (work, use = 'used') => inWorkshop(use, ({ backups }) => work(backups)),
  withFiles: (appId, work) => inWorkshop('used', (workshop) => workshop.withFiles(appId, work)),
};

/** @param address that the service listens at */
function printAddress({ baseUrl = '' }: Config, address: string): void {
  // At once: programs that start it read on from the first line.
  print(`Record Data Service listening on ${address}\nConsole: ${baseUrl || address}/console/`);
}

async function serveAlone({ config, secrets }: Settings): Promise<void> {
  const { createApp } = await import('./app.ts');
  const life = await lifecycleOf({ config, secrets });
  const faults = (await import('./faults.ts')).faultsOf(config);
  const app = await createApp(config, secrets, faults.report);
  let cause: 'told' | 'fault' = 'fault';
  try {
    const told = toldToEnd(life);
    await addFirstSystem(app.administration, app.contextOf, secrets, config.dataDir, { print, stranger: life.stranger });
    const address = await app.listen();
    printAddress(config, address);
    life.started(app.administration.systems().length, address);
    await Promise.race([told, faults.first]);
    cause = 'told';
  } finally {
    life.stopping('fault');
    await app.close(cause);
    life.stopped();
  }
  faults.check();
}

/** WEB_CONCURRENCY: this process makes the first system and starts those that serve. */
async function serveTogether({ config, secrets }: Settings): Promise<void> {
  const life = await lifecycleOf({ config, secrets });
  const faults = (await import('./faults.ts')).faultsOf(config);
  process.on('uncaughtException', faults.report);
  const told = toldToEnd(life);
  const systems = await inWorkshop('first', async ({ administration, contextOf }) => {
    await addFirstSystem(administration, contextOf, secrets, config.dataDir, { print, stranger: life.stranger });
    return administration.systems().length;
  });
  try {
    await serveWith(config.webConcurrency, Promise.race([told, faults.first]), (address) => {
      printAddress(config, address);
      life.started(systems, address);
    });
  } finally {
    life.stopping('fault');
    life.stopped();
  }
  faults.check();
}

/** One of several processes. Signals of a terminal reach it, too; the process that started it says when to end. */
async function serveBeside({ config, secrets }: Settings): Promise<void> {
  const { createApp } = await import('./app.ts');
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {});
  endInOrder();
  let drain = () => {};
  const told = toldByStarter(() => drain());
  const faults = (await import('./faults.ts')).faultsOf(config);
  const app = await createApp(config, secrets, faults.report);
  drain = () => app.drain();
  let cause: 'told' | 'fault' = 'fault';
  try {
    tellListening(await app.listen());
    await Promise.race([told, faults.first]);
    cause = 'told';
  } finally {
    await app.close(cause);
    process.disconnect?.();
  }
  faults.check();
}

async function ask(question: string): Promise<string | null> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return null;
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // The end of the input is no answer.
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    return await Promise.race([lines.question(question), ended]);
  } finally {
    lines.close();
  }
}

async function inWorkshop<T>(use: Use, work: (workshop: Workshop) => T | Promise<T>): Promise<T> {
  const { config, secrets } = loadSettings(process.cwd());
  const { openWorkshop } = await import('./workshop.ts');
  const workshop = await openWorkshop(config, secrets.databaseUrl, use);
  try {
    return await work(workshop);
  } finally {
    await workshop.close();
  }
}

async function lifecycleOf({ config, secrets }: Settings): Promise<LifecycleLog> {
  const { lifecycleLog, warnOfShortKeys } = await import('./lifecycle-log.ts');
  warnOfShortKeys(config, secrets);
  return lifecycleLog(config, secrets.databaseUrl === undefined ? 'sqlite' : 'postgres');
}

/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
function toldToEnd(life: LifecycleLog): Promise<void> {
  return new Promise((resolve) => {
    let told = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => {
        if (told) process.exit(1);
        told = true;
        life.stopping(signal);
        resolve();
      });
  });
}

/** An error of the operating system (a port that is taken, a directory that may not be written) or of a database file. */
function isOfSystem(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^E[A-Z]+$|^ERR_SQLITE_ERROR$/.test(code);
}

/** What to do about it, where one thing is likely. */
function hintFor(error: unknown): string {
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  // Names of other machines are looked up where their faults are told in words of their own.
  if (syscall === 'getaddrinfo') return '; check HOST';
  if (syscall === 'listen') return code === 'EADDRINUSE' ? '; set PORT to a free one' : '; check HOST and PORT';
  if (code === 'ERR_SQLITE_ERROR') return placeOfData(error as Error);
  return typeof path === 'string' && isOfData(path) ? '; check DATA_DIR' : '';
}

/** SQLite names no file. */
function placeOfData({ message }: Error): string {
  const { dataDir } = loadSettings(process.cwd()).config;
  return message.includes(dataDir) ? '' : `; DATA_DIR is ${dataDir}`;
}

/** Whether a path lies in DATA_DIR, or leads there. */
function isOfData(path: string): boolean {
  const { dataDir } = loadSettings(process.cwd()).config;
  return [relative(dataDir, path), relative(path, dataDir)].some((way) => !way.startsWith('..') && !isAbsolute(way));
}

/**
 * Runs the program.
 * @param args that the operator gave
 * @returns its exit code; a failure is told on the standard error
 */
export async function run(args: readonly string[]): Promise<number> {
  try {
    return await runProgram(args, actions, print);
  } catch (thrown) {
    // A fault that can pass is told as the system tells it.
    const error = isUnavailable(thrown) && thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
    const isPlain = error instanceof OperatorError || error instanceof ServiceError || isOfSystem(error);
    console.error(isPlain ? `record-service: ${(error as Error).message}${hintFor(error)}` : error);
    return 1;
  }
}
