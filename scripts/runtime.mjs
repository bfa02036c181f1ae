/**
 * Starts the project's programs. Plain JavaScript without dependencies, because it must run on an older Node and before anything is installed.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Node major version that the sources need, for type stripping and `node:sqlite`. */
const NEEDED_MAJOR = 24;

/** The package's own directory. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/** Compile cache of Node: halves the time and memory for starting processes and threads. */
export const compileCache = process.env.NODE_COMPILE_CACHE ?? join(root, 'node_modules/.cache/node');

/** Threads for files and passwords, 4 by default: a flush must not wait for passwords that are hashed. */
const UV_THREADPOOL_SIZE = '16';

/** Binary of this process. npm puts the pinned Node first in PATH, so it may be a file that `npm ci` removes. */
const current = existsSync(process.execPath) ? realpathSync(process.execPath) : undefined;

/** A failure that is reported by its message, without a stack. */
export class LaunchError extends Error {}

/**
 * Whether a file is a Node binary of the required major version.
 *
 * @param {string} file
 */
export function isNewEnough(file) {
  if (!existsSync(file)) return false;
  if (realpathSync(file) === current) return isServed(process.versions.node);
  return isServed(spawnSync(file, ['--version'], { encoding: 'utf8' }).stdout?.slice(1));
}

/** @param {string | undefined} version */
const isServed = (version) => Number(version?.split('.')[0]) >= NEEDED_MAJOR;

/**
 * Returns the Node binary of this process.
 *
 * @returns {string} an absolute path.
 * @throws {LaunchError} if it is too old.
 */
export function currentNode() {
  if (isNewEnough(process.execPath)) return process.execPath;
  throw new LaunchError(`Node ${NEEDED_MAJOR} or newer is needed, and this is ${process.version}: install it.`);
}

/**
 * Returns Node's flags for a sub-command.
 *
 * @param {string | undefined} command its name.
 * @returns {string[]}
 */
export function flagsOf(command) {
  const quiet = '--disable-warning=ExperimentalWarning';
  if (command === 'start') return [quiet];
  // Bulk commands produce short-lived strings: a small young generation, and an old one that is collected when it has doubled, keep memory low at no
  // cost in
  // time. Rows on their way to PostgreSQL outlive a small young generation, which costs an import a tenth of its time.
  // A clone has two stores open, and its values live for a moment only.
  const youngMegabytes = command === 'import' || command === 'migrate' ? 32 : command === 'system' ? 4 : 8;
  return [`--max-semi-space-size=${youngMegabytes}`, '--heap-growing-percent=100', quiet];
}

/**
 * Runs a command on a Node binary with this process's terminal, forwards signals, and exits like the command.
 *
 * @param {string} node the binary.
 * @param {string[]} args its arguments.
 * @param {NodeJS.ProcessEnv} [env] additional variables.
 */
export function run(node, args, env = {}) {
  const path = [join(root, 'node_modules/.bin'), dirname(node), process.env.PATH].filter(Boolean).join(delimiter);
  const child = spawn(node, args, {
    stdio: 'inherit',
    env: { UV_THREADPOOL_SIZE, ...process.env, NODE_COMPILE_CACHE: compileCache, ...env, PATH: path },
  });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => {
      // A terminal sends its interrupt to the whole process group, so the command has received it already.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  endWithNpm(child);
  child.on('error', (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1)));
}

/**
 * Terminates the command if npm is killed without forwarding a signal; otherwise it would live on and keep its port.
 *
 * @param {import('node:child_process').ChildProcess} child
 */
function endWithNpm(child) {
  if (!/scripts\/launch\.mjs|record-service/.test(process.env.npm_lifecycle_script ?? '')) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) child.kill('SIGTERM');
  }, 1000).unref();
}

/**
 * Runs a launcher's body; reports a {@link LaunchError} by its message, with exit code 1.
 *
 * @param {() => void | Promise<void>} body
 */
export async function launching(body) {
  try {
    await body();
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
