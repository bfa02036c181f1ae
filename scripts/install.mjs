/**
 * Installs what a clone needs. Plain JavaScript without dependencies, because it must run on an older Node and before anything is installed.
 * Reference: ../docs/adr/0041-installation.md
 */
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { exclusively } from './exclusive.mjs';
import { npm } from './npm.mjs';
import { currentNode, isNewEnough, root } from './runtime.mjs';

/** Package of the pinned Node alone. */
const runtime = join(root, 'runtime');

/**
 * Installs what is missing, and finds the Node binary to run the sources with: the pinned one of the npm package `node`, which is among the
 * development dependencies; else the current one, if it is new enough; else the pinned one of `runtime/`.
 *
 * @param {{ production?: boolean }} [options] `production`: omit development dependencies unless some are installed already.
 * @returns {Promise<string>} an absolute path.
 * @throws {LaunchError} if npm cannot install, or if there is no Node of the required major version.
 */
export async function prepare({ production = false } = {}) {
  const isServing = production && !hasDevelopment(readPackages(installedIn(root)));
  // Both at once: npm works on one processor.
  await Promise.all([
    ensureInstalled({ production }),
    isServing && !isNewEnough(process.execPath) ? installRuntime() : undefined,
  ]);
  const pinned = pinnedNode();
  if (pinned) return pinned;
  return isNewEnough(process.execPath) ? process.execPath : ((await installRuntime()) ?? currentNode());
}

/**
 * Installs the packages of `package-lock.json` if `node_modules` differs from it.
 *
 * @param {{ production?: boolean, folder?: string }} [options] `production`: omit development dependencies unless some are installed already;
 * `folder`: of the package, by default this one.
 * @throws {LaunchError} if npm cannot install.
 */
export async function ensureInstalled({ production = false, folder = root } = {}) {
  const wanted = readPackages(lockOf(folder));
  if (!wanted) return;
  const isMissing = () => !isInstalled(wanted, readPackages(installedIn(folder)), !production);
  await install(folder, isMissing, async (onStart) => {
    process.stderr.write('Installing dependencies (npm ci) ...\n');
    const isWhole = !production || hasDevelopment(readPackages(installedIn(folder)));
    await npm(['ci', isWhole ? '--include=dev' : '--omit=dev'], folder, onStart);
    if (!isWhole) trim(folder);
  });
}

/** Removes source maps and tests of packages: 21 of 81 MB, which nothing reads. @param {string} folder */
function trim(folder) {
  const packages = join(folder, 'node_modules');
  for (const path of readdirSync(packages, { recursive: true, encoding: 'utf8' }))
    if (/\.(map|(test|spec)\.[cm]?[jt]s)$/.test(path)) rmSync(join(packages, path), { recursive: true, force: true });
  // npm takes its record to be out of date if a package is newer.
  const now = new Date();
  utimesSync(installedIn(folder), now, now);
}

/** Installs the pinned Node of `runtime/`. @returns {Promise<string | undefined>} its path */
async function installRuntime() {
  const name = platformPackage();
  const version = readPackages(lockOf(root))?.['node_modules/node']?.version;
  const path = `node_modules/${name}`;
  // npm writes its record when it has finished.
  const isMissing = () => readPackages(installedIn(runtime))?.[path]?.version !== version;
  await install(runtime, isMissing, async (onStart) => {
    process.stderr.write(`Installing Node ${version} ...\n`);
    const isLocked = readPackages(lockOf(runtime))?.[path]?.version === version;
    await npm(isLocked ? ['ci'] : ['install', '--no-save', `${name}@${version}`], runtime, onStart);
    // Headers for native modules: 67 of 189 MB.
    rmSync(join(runtime, path, 'include'), { recursive: true, force: true });
  });
  return binaryIn(join(runtime, path));
}

/**
 * Installs in a folder unless another process has, which it waits for.
 *
 * @param {string} folder
 * @param {() => boolean} isMissing
 * @param {(onStart: (pid: number) => void) => Promise<void>} work
 */
async function install(folder, isMissing, work) {
  if (!isMissing()) return;
  const onWait = () => process.stderr.write('Waiting for another installation ...\n');
  await exclusively(
    join(folder, '.install.lock'),
    async (pass) => {
      // Another process may have installed it meanwhile.
      if (isMissing()) await work(pass);
    },
    onWait,
  );
}

function pinnedNode() {
  const packages = ['node', `node/node_modules/${platformPackage()}`];
  return packages.map((name) => binaryIn(join(root, 'node_modules', name))).find((file) => file && isNewEnough(file));
}

/** @param {string} directory of a package @returns {string | undefined} */
function binaryIn(directory) {
  const file = join(directory, process.platform === 'win32' ? 'bin/node.exe' : 'bin/node');
  return existsSync(file) ? file : undefined;
}

/** @returns {string} name of the npm package with the Node binary for this platform. */
function platformPackage() {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const prefix = process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
  return `${prefix}-${platform}-${process.arch}`;
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

/** @param {Record<string, LockedPackage> | undefined} present */
const hasDevelopment = (present) => Object.values(present ?? {}).some(({ dev }) => dev);

/** @param {string} folder */
const lockOf = (folder) => join(folder, 'package-lock.json');

/** npm's record of what it has installed. @param {string} folder */
const installedIn = (folder) => join(folder, 'node_modules/.package-lock.json');

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
