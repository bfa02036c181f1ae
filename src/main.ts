import type { Workshop } from './app.ts';
import { type Actions, addFirstSystem, runProgram } from './cli/index.ts';
import { loadSettings } from './config/index.ts';
import { OperatorError } from './kernel/operator-error.ts';

const print = (line: string) => console.log(line);

// app.ts is loaded after the settings were read, so that a malformed one is answered at once and has its line to itself.
const actions: Actions = {
  async start() {
    const { config, secrets } = loadSettings(process.cwd());
    const { createApp } = await import('./app.ts');
    const app = await createApp(config, secrets);
    try {
      const told = toldToEnd();
      await addFirstSystem(app.administration, app.contextOf, secrets, config.dataDir, print);
      print(`Record Data Service listening on ${await app.listen()}`);
      await told;
    } finally {
      await app.close();
    }
  },
  withAdministration: (work, mayMake = false) =>
    inWorkshop(mayMake, ({ administration, contextOf }) => work(administration, contextOf)),
  withRecords: (appId, work) =>
    inWorkshop(false, (workshop) => workshop.withRecords(appId, (context) => work(context, () => workshop.isServed()))),
};

async function inWorkshop<T>(mayMake: boolean, work: (workshop: Workshop) => T | Promise<T>): Promise<T> {
  const { config } = loadSettings(process.cwd());
  const { openWorkshop } = await import('./app.ts');
  const workshop = openWorkshop(config, mayMake);
  try {
    return await work(workshop);
  } finally {
    await workshop.close();
  }
}

/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
function toldToEnd(): Promise<void> {
  return new Promise((resolve) => {
    let told = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => {
        if (told) process.exit(1);
        told = true;
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
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  if (syscall === 'listen') return code === 'EADDRINUSE' ? '; set PORT to a free one' : '; check HOST and PORT';
  return syscall === 'mkdir' || syscall === 'open' ? '; check DATA_DIR' : '';
}

try {
  process.exitCode = await runProgram(process.argv.slice(2), actions, print);
} catch (error) {
  const isPlain = error instanceof OperatorError || isOfSystem(error);
  console.error(isPlain ? `record-service: ${(error as Error).message}${hintFor(error)}` : error);
  process.exitCode = 1;
}
