/**
 * Finds or installs the runtime of the project. Plain JavaScript without dependencies, because it must run on an older Node and before anything is
 * installed.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Node major version that the sources need, for type stripping and `node:sqlite`. */
const NEEDED_MAJOR = 24;

/** The package's own directory. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/** Compile cache of Node: halves the time and memory for starting processes and threads. */
export const compileCache = process.env.NODE_COMPILE_CACHE ?? join(root, 'node_modules/.cache/node');

/** Threads for files and passwords, 4 by default: a flush must not wait for passwords that are hashed. */
const UV_THREADPOOL_SIZE = '16';

const LOCK = join(root, 'package-lock.json');

const currentIsNewEnough = Number(process.versions.node.split('.')[0]) >= NEEDED_MAJOR;

/** A failure that is reported by its message, without a stack. */
export class LaunchError extends Error {}

/** Makes npm report errors only. */
const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];

/**
 * Installs the dependencies if `node_modules` differs from `package-lock.json`.
 *
 * @param {{ production?: boolean, folder?: string }} [options] `production`: omit development dependencies unless some are installed already;
 * `folder`: of the
 *   package, by default this one.
 * @throws {LaunchError} if npm cannot install.
 */
export function ensureInstalled({ production = false, folder = root } = {}) {
  // The published package has no lock file; npm installed its dependencies.
  const wanted = readPackages(join(folder, 'package-lock.json'));
  // npm's record of what it has installed.
  const present = readPackages(join(folder, 'node_modules/.package-lock.json'));
  if (!wanted || isInstalled(wanted, present, !production)) return;
  process.stderr.write('Installing dependencies (npm ci) ...\n');
  const isWhole = !production || Object.values(present ?? {}).some(({ dev }) => dev);
  const quiet = [isWhole ? '--include=dev' : '--omit=dev', ...QUIET];
  // `npm ci` refuses a lock file written with a registry that lacks some platform packages; `npm install` accepts it.
  const first = npm(['ci', ...quiet], folder);
  if (first.ok) return;
  const second = npm(['install', '--no-save', ...quiet], folder);
  if (!second.ok) throw new LaunchError(`npm ci failed:\n${first.output}\nnpm install failed:\n${second.output}`);
}

/**
 * Finds the Node binary to run the sources with: the pinned one of the npm package `node`, else the current one.
 *
 * @returns {string} an absolute path.
 * @throws {LaunchError} if there is no Node of the required major version.
 */
export function findNode() {
  // npm puts the pinned Node first in PATH, so this process may run on a file that `npm ci` has just removed.
  const found = pinnedNode() ?? (currentIsNewEnough && existsSync(process.execPath) ? process.execPath : installedNode());
  if (found) return found;
  // The published package has no lock file, and does not bring a Node.
  const remedy = existsSync(LOCK) ? 'install it, or run "npm ci" with install scripts on' : 'install it';
  throw new LaunchError(`Node ${NEEDED_MAJOR} or newer is needed, and this is ${process.version}: ${remedy}.`);
}

/** Installs the pinned Node. @returns {string | undefined} its path */
function installedNode() {
  if (existsSync(join(root, 'node_modules/node/package.json'))) {
    // With `ignore-scripts`, the package is installed but its script has not fetched the binary.
    npm(['rebuild', 'node', '--ignore-scripts=false', '--loglevel=error']);
    return pinnedNode();
  }
  // Without development dependencies, which include the package `node`: installs the platform package that its script would fetch.
  const version = readPackages(LOCK)?.['node_modules/node']?.version;
  if (!version) return undefined;
  process.stderr.write(`Installing Node ${version} ...\n`);
  // npm must see the lock file; otherwise it would replace locked versions by current ones.
  npm(['install', '--no-save', '--omit=dev', ...QUIET, `${platformPackage()}@${version}`]);
  return pinnedNode();
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
  const path = [join(root, 'node_modules/.bin'), process.env.PATH].filter(Boolean).join(delimiter);
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

/**
 * Compares names and versions; file times are meaningless after a checkout or a restored cache.
 *
 * @param {Record<string, LockedPackage>} wanted
 * @param {Record<string, LockedPackage> | undefined} present
 * @param {boolean} needsDev whether development dependencies are required too
 */
function isInstalled(wanted, present, needsDev) {
  if (!present) return false;
  return Object.entries(wanted).every(([path, { version, optional, dev, devOptional, link }]) => {
    if (!path.startsWith('node_modules/') || link) return true;
    const installed = present[path];
    if (installed) return installed.version === version;
    return Boolean(optional || devOptional || (dev && !needsDev));
  });
}

/**
 * @typedef {{ version?: string, optional?: boolean, dev?: boolean, devOptional?: boolean, link?: boolean }} LockedPackage
 * @param {string} file
 * @returns {Record<string, LockedPackage> | undefined} undefined if there is no readable file.
 */
function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** @returns {string} name of the npm package with the Node binary for this platform. */
function platformPackage() {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const prefix = process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
  return `${prefix}-${platform}-${process.arch}`;
}

function pinnedNode() {
  const binary = process.platform === 'win32' ? 'bin/node.exe' : 'bin/node';
  const packages = ['node', `node/node_modules/${platformPackage()}`, platformPackage()];
  return packages.map((name) => join(root, 'node_modules', name, binary)).find((file) => existsSync(file) && isNewEnough(file));
}

/** @param {string} file */
function isNewEnough(file) {
  if (realpathSync(file) === process.execPath) return currentIsNewEnough;
  const { stdout } = spawnSync(file, ['--version'], { encoding: 'utf8' });
  return Number(/^v(\d+)\./.exec(stdout ?? '')?.[1]) >= NEEDED_MAJOR;
}

/**
 * @param {string[]} args
 * @param {string} [cwd] directory of the package
 */
function npm(args, cwd = root) {
  const { npm_execpath: script, npm_node_execpath: node } = process.env;
  // Without node_modules/.bin: npm must not run on the binary that it is about to replace.
  const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => !entry.startsWith(join(root, 'node_modules')));
  const options = { cwd, encoding: /** @type {const} */ ('utf8'), env: { ...process.env, PATH: path.join(delimiter) } };
  const result =
    script && node && existsSync(node)
      ? spawnSync(node, [script, ...args], options)
      : spawnSync('npm', args, { ...options, shell: process.platform === 'win32' });
  return { ok: result.status === 0, output: result.error?.message ?? `${result.stdout}${result.stderr}` };
}
