/**
 * Finds, or installs, what the project runs on. Plain JavaScript without dependencies: it is the only code that has to run
 * on an older Node and before anything is installed.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The Node major the sources need: type stripping and `node:sqlite`. */
const NEEDED_MAJOR = 24;

/** The package's own directory. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/** What Node makes of the sources is kept: starts, and starts of threads, take half the time and memory. */
export const compileCache = process.env.NODE_COMPILE_CACHE ?? join(root, 'node_modules/.cache/node');

const LOCK = join(root, 'package-lock.json');

const currentIsNewEnough = Number(process.versions.node.split('.')[0]) >= NEEDED_MAJOR;

/** A failure with a message for the terminal, without a stack. */
export class LaunchError extends Error {}

/** npm speaks of what goes wrong only. */
const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];

/**
 * Installs the dependencies when `node_modules` does not hold what `package-lock.json` names.
 *
 * @param {{ production?: boolean, folder?: string }} [options] `production`: without development dependencies, unless some are there already;
 *   `folder`: of the package, else this one.
 * @throws {LaunchError} when npm cannot install.
 */
export function ensureInstalled({ production = false, folder = root } = {}) {
  // The published package carries no lock file; npm installed its dependencies.
  const wanted = readPackages(join(folder, 'package-lock.json'));
  // What npm has installed.
  const present = readPackages(join(folder, 'node_modules/.package-lock.json'));
  if (!wanted || isInstalled(wanted, present, !production)) return;
  process.stderr.write('Installing dependencies (npm ci) ...\n');
  const isWhole = !production || Object.values(present ?? {}).some(({ dev }) => dev);
  const quiet = [isWhole ? '--include=dev' : '--omit=dev', ...QUIET];
  // `npm ci` refuses a lock file that a registry without every platform's packages has written; `npm install` reads it.
  const first = npm(['ci', ...quiet], folder);
  if (first.ok) return;
  const second = npm(['install', '--no-save', ...quiet], folder);
  if (!second.ok) throw new LaunchError(`npm ci failed:\n${first.output}\nnpm install failed:\n${second.output}`);
}

/**
 * Finds the Node binary to run the sources with: the pinned one of the npm package `node`, else this process's own.
 *
 * @returns {string} an absolute path.
 * @throws {LaunchError} when there is no Node of the needed major.
 */
export function findNode() {
  // npm puts the pinned Node first in the path of what it starts: this process may run on a file that `npm ci` has just removed.
  const found = pinnedNode() ?? (currentIsNewEnough && existsSync(process.execPath) ? process.execPath : installedNode());
  if (found) return found;
  throw new LaunchError(
    `Node ${NEEDED_MAJOR} or newer is needed, and this is ${process.version}: install it, or run "npm ci" with install scripts on.`,
  );
}

/** @returns {string | undefined} the pinned Node, which was missing. */
function installedNode() {
  if (existsSync(join(root, 'node_modules/node/package.json'))) {
    // npm was told to ignore install scripts: the package is there, the binary that its script fetches is not.
    npm(['rebuild', 'node', '--ignore-scripts=false', '--loglevel=error']);
    return pinnedNode();
  }
  // Without the development dependencies, of which it is one: the package that its script would fetch.
  const version = readPackages(LOCK)?.['node_modules/node']?.version;
  if (!version) return undefined;
  process.stderr.write(`Installing Node ${version} ...\n`);
  // npm has to see the lock file, or it would replace what that names by what the registry has by now.
  npm(['install', '--no-save', '--omit=dev', ...QUIET, `${platformPackage()}@${version}`]);
  return pinnedNode();
}

/**
 * Node's flags for a sub-command of the program.
 *
 * @param {string | undefined} command its name.
 * @returns {string[]}
 */
export function flagsOf(command) {
  const quiet = '--disable-warning=ExperimentalWarning';
  if (command === 'start') return [quiet];
  // Commands that go through many records make short-lived texts: a small young generation, and an old one that is collected when it has
  // doubled, keep memory low, at no cost in time. Rows on their way to PostgreSQL outlive a small one, which costs an import a tenth of its time.
  const youngMegabytes = command === 'import' || command === 'migrate' ? 32 : 8;
  return [`--max-semi-space-size=${youngMegabytes}`, '--heap-growing-percent=100', quiet];
}

/**
 * Runs a command on a Node binary with this process's own terminal, passes signals on, and ends as the command ends.
 *
 * @param {string} node the binary.
 * @param {string[]} args its arguments.
 * @param {NodeJS.ProcessEnv} [env] variables on top of this process's own.
 */
export function run(node, args, env = {}) {
  const path = [join(root, 'node_modules/.bin'), process.env.PATH].filter(Boolean).join(delimiter);
  const child = spawn(node, args, {
    stdio: 'inherit',
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache, ...env, PATH: path },
  });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => {
      // A terminal sends its interrupt to the whole process group, so the command has it already.
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
 * Where npm is killed outright, nobody passes a signal on: the command would live on and keep its port.
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
 * Runs a launcher's body and turns a {@link LaunchError} into one message and exit code 1.
 *
 * @param {() => void | Promise<void>} body what to do.
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
 * Compares names and versions: file times say nothing after a checkout or a restored cache.
 *
 * @param {Record<string, LockedPackage>} wanted
 * @param {Record<string, LockedPackage> | undefined} present
 * @param {boolean} needsDev whether the development dependencies have to be there too
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
 * @returns {Record<string, LockedPackage> | undefined} undefined where there is no readable file.
 */
function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** @returns {string} the name of the npm package that holds Node for this machine. */
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
 * @param {string} [cwd] the package's directory
 */
function npm(args, cwd = root) {
  const { npm_execpath: script, npm_node_execpath: node } = process.env;
  // Without node_modules/.bin: npm must not run on the very binary that it is about to replace.
  const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => !entry.startsWith(join(root, 'node_modules')));
  const options = { cwd, encoding: /** @type {const} */ ('utf8'), env: { ...process.env, PATH: path.join(delimiter) } };
  const result =
    script && node && existsSync(node)
      ? spawnSync(node, [script, ...args], options)
      : spawnSync('npm', args, { ...options, shell: process.platform === 'win32' });
  return { ok: result.status === 0, output: result.error?.message ?? `${result.stdout}${result.stderr}` };
}
