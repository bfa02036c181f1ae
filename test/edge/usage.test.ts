/** Version, help, and the messages for commands with wrong arguments. Reference: commands.md#exit-codes. */
import assert from 'node:assert/strict';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../support/hosts/run-command.ts';
import { type Run, runToEnd, temporary } from './process.ts';

const cwd = await temporary();
const run = (...args: string[]): Promise<Run> => runCommand(args, { DATA_DIR: join(cwd, 'data') }, cwd);

test('Operations: --version prints X.Y.Z', async () => {
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
  assert.deepEqual(await run('--version'), { code: 0, stdout: `${version}\n`, stderr: '' });
  assert.match(version, /^\d+\.\d+\.\d+$/);
});

const near: [args: string[], nearest: RegExp][] = [
  [['strat'], /unknown command 'strat' \(Did you mean start\?\)/],
  [['systm', 'list'], /unknown command 'systm' \(Did you mean system\?\)/],
  [['system', 'remvoe', 'x'], /unknown command 'remvoe' \(Did you mean remove\?\)/],
  [['key', 'lst'], /unknown command 'lst' \(Did you mean list\?\)/],
  [['files', 'usage', '--systm', 'x'], /unknown option '--systm' \(Did you mean --system\?\)/],
  [
    ['import', '--system', 'x', '--table', 'T', '--file', 'f', '--tabel', 'T'],
    /unknown option '--tabel' \(Did you mean --table\?\)/,
  ],
  [['user', 'add', '--system', 'x'], /required option '--username <name>'/],
  [['start', 'now'], /too many arguments/],
  [['nonsense'], /unknown command 'nonsense'/],
  [['backup'], /--to must be given/],
  [['backup', 'lst', '--from', 'x'], /too many arguments/],
  [['backup', 'list'], /required option '--from <place>'/],
  [['backup', '--to', 'x', '--keep', 'ever'], /--keep: must be such as 48h,30d,12m/],
  [['restore', 'f'], /either --as NEWID or --replace must be given/],
  [['restore', 'f', '--as', 'x', '--replace'], /either --as NEWID or --replace must be given/],
  [['help', 'sytem'], /unknown command 'sytem' \(Did you mean system\?\)/],
  [['sytem', '--help'], /unknown command 'sytem' \(Did you mean system\?\)/],
  [['help', 'system', 'lst'], /unknown command 'lst' \(Did you mean list\?\)/],
  [['system', 'help', 'lst'], /unknown command 'lst' \(Did you mean list\?\)/],
  [['system', 'lst', '-h'], /unknown command 'lst' \(Did you mean list\?\)/],
];
for (const [args, nearest] of near)
  test(`Operations: ${args.join(' ')} names the nearest command or the missing option, in one line, and exits 1`, async () => {
    const { code, stdout, stderr } = await run(...args);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, nearest);
    assert.equal(stderr.trim().split('\n').length, 1, stderr);
  });

const helped: [args: string[], says: RegExp][] = [
  [['--help'], /export[\s\S]*import[\s\S]*backup[\s\S]*migrate[\s\S]*restore/],
  [['backup', 'list', '--help'], /--from/],
  [['help', 'restore'], /--replace/],
  [['help'], /import/],
  [['system', '--help'], /remove/],
  [['help', 'system'], /remove/],
  [['help', 'system', 'add'], /--admin-email/],
  [['system', 'help', 'add'], /--admin-email/],
  [['system', 'help'], /remove/],
  [['key', 'add', '--help'], /--name/],
  [['import', '--help'], /--file/],
  [['move', '--help'], /--to/],
];
for (const [args, says] of helped)
  test(`Operations: ${args.join(' ')} helps and exits 0`, async () => {
    const { code, stdout, stderr } = await run(...args);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, says);
  });

const reporting: [command: string, options: string[]][] = [
  ...['import', 'export', 'backup', 'backup verify', 'restore', 'move', 'files sweep'].map((command): [string, string[]] => [
    command,
    ['--json', '--quiet'],
  ]),
  ...['backup list', 'system list', 'key list', 'user list', 'files usage'].map((command): [string, string[]] => [
    command,
    ['--json'],
  ]),
];
for (const [command, options] of reporting)
  test(`Operations: ${command} takes ${options.join(' and ')}`, async () => {
    const { stdout } = await run(...command.split(' '), '--help');
    for (const option of options) assert.match(stdout, new RegExp(`^ +${option} `, 'm'));
  });

test('Operations: a reader that leaves before the end of the output is no error', async () => {
  const cwd = await temporary();
  const { code, stderr } = await runToEnd(['system', '--help'], {}, cwd, false);
  assert.deepEqual([code, stderr], [0, '']);
});

test('Operations: DATA_DIR is named if one of its paths is at fault, and only then', async () => {
  const missing = await run('import', '--system', 'x', '--table', 'T', '--file', join(cwd, 'missing.ndjson'));
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /no such file.*missing\.ndjson/);
  assert.doesNotMatch(missing.stderr, /DATA_DIR/);
  if (process.getuid?.() === 0) return;
  const locked = join(cwd, 'locked');
  await mkdir(locked);
  await chmod(locked, 0o500);
  const made = await runCommand(['system', 'add'], { DATA_DIR: join(locked, 'data') }, cwd);
  assert.equal(made.code, 1);
  assert.match(made.stderr, /EACCES.*; check DATA_DIR/);
});
