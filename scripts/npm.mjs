/** Runs npm. Plain JavaScript without dependencies, because it must run on an older Node and before anything is installed. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { LaunchError, root } from './runtime.mjs';

/** Makes npm report errors only. */
const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];

/**
 * Runs an npm command. A signal to this process ends both.
 *
 * @param {string[]} args
 * @param {string} cwd directory of the package
 * @param {(pid: number) => void} onStart receives the process id of npm
 * @throws {LaunchError} with npm's output, if it fails.
 */
export async function npm(args, cwd, onStart) {
  const child = start([...args, ...QUIET], cwd);
  if (child.pid !== undefined) onStart(child.pid);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  const forget = endTogether(child);
  const code = await new Promise((resolve) => {
    child.once('error', (error) => {
      output = error.message;
      resolve(-1);
    });
    child.once('close', resolve);
  });
  forget();
  if (code !== 0) throw new LaunchError(`npm ${args.join(' ')} failed in ${cwd}:\n${output.trim()}`);
}

/**
 * @param {string[]} args
 * @param {string} cwd
 */
function start(args, cwd) {
  const { npm_execpath: script, npm_node_execpath: node } = process.env;
  // Without node_modules/.bin: npm must not run on the binary that it is about to replace.
  const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => !entry.startsWith(join(root, 'node_modules')));
  const options = {
    cwd,
    env: { ...process.env, PATH: path.join(delimiter) },
    stdio: /** @type {['ignore', 'pipe', 'pipe']} */ (['ignore', 'pipe', 'pipe']),
  };
  return script && node && existsSync(node)
    ? spawn(node, [script, ...args], options)
    : spawn('npm', args, { ...options, shell: process.platform === 'win32' });
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @returns a function that ends the connection
 */
function endTogether(child) {
  const signals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
  /** @param {NodeJS.Signals} signal */
  const end = (signal) => {
    child.kill(signal);
    // The lock stays npm's until it has ended.
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of signals) process.on(signal, end);
  return () => {
    for (const signal of signals) process.off(signal, end);
  };
}
