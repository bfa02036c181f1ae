/**
 * What the npm scripts call: installs what is missing, then runs the command on the pinned Node.
 * Usage: node scripts/launch.mjs <command> [arguments]
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { ensureInstalled, prepare } from './install.mjs';
import { LaunchError, launching, root, run } from './runtime.mjs';
import { FOLDERS, groupsOf, testsAt, writeGroups } from './test-files.mjs';

/** `node:sqlite` still announces itself as experimental. */
const QUIET = '--disable-warning=ExperimentalWarning';

/**
 * Each command's Node arguments, made from the arguments that the user added.
 *
 * @type {Map<string, (args: string[]) => string[]>}
 */
const commands = new Map([
  ['start', (args) => [QUIET, 'src/main.ts', 'start', ...args]],
  ['dev', (args) => ['--watch-path=src', '--watch-path=console/src', QUIET, 'src/main.ts', 'start', ...args]],
  ['test', testArguments],
  ['check', (args) => [QUIET, 'scripts/check.ts', ...args]],
  ['fix', () => [QUIET, 'scripts/check.ts', '--fix']],
  ['bench', (args) => [QUIET, 'bench/main.ts', ...args]],
  ['build', () => [QUIET, 'scripts/build.ts']],
  ['build:client', () => [QUIET, 'scripts/build-client.ts']],
  ['prepack', () => [QUIET, 'scripts/pack.ts', 'before']],
  ['postpack', () => [QUIET, 'scripts/pack.ts', 'after']],
  ['site', (args) => [QUIET, 'scripts/site.ts', 'dev', ...args]],
  ['build:site', (args) => [QUIET, 'scripts/site.ts', 'build', ...args]],
]);

/**
 * Extra arguments are options for the runner (`--name=value`), files, directories or glob patterns. One file runs as it is.
 *
 * @param {string[]} args
 */
function testArguments(args) {
  const options = args.filter((arg) => arg.startsWith('-'));
  const patterns = args.filter((arg) => !arg.startsWith('-'));
  const files = (patterns.length > 0 ? patterns : FOLDERS).flatMap(testsAt);
  return [
    '--test',
    QUIET,
    '--test-reporter=spec',
    '--test-global-setup=test/support/run.ts',
    // Many wait for something else than a processor.
    `--test-concurrency=${availableParallelism() + 2}`,
    '--test-timeout=1200000',
    ...options,
    ...(files.length > 1 ? writeGroups(groupsOf(files)) : files),
  ];
}

launching(async () => {
  const [name = '', ...args] = process.argv.slice(2);
  const command = commands.get(name);
  if (!command) throw new LaunchError(`Usage: node scripts/launch.mjs ${[...commands.keys()].join('|')}`);
  process.chdir(root);
  const node = await prepare({ production: name === 'start' });
  // Types of their packages are checked too, and the site is built.
  if (name === 'check') for (const folder of ['console', 'site']) await ensureInstalled({ folder: join(root, folder) });
  run(node, command(args), name === 'dev' ? { LOG_LEVEL: process.env.LOG_LEVEL ?? 'debug' } : {});
});
