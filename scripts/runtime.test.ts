/** The launcher in a clone without packages, with a fake npm that records its arguments. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const packages = {
  '': { name: 'clone' },
  'node_modules/served': { version: '1.0.0' },
  'node_modules/tested': { version: '2.0.0', dev: true },
  'node_modules/node': { version: '24.99.0', dev: true },
};

/**
 * Records its arguments and installs what they name: the packages of the lock file, or the current Node. If it may not read the lock file, it changes
 * all
 * packages.
 */
const fakeNpm = `
import { appendFileSync, chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
const args = process.argv.slice(2);
appendFileSync('asked', args.filter((arg) => !/^--(no-|loglevel)/.test(arg)).join(' ') + '\\n');
if (args[0] === 'ci') {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const present = Object.fromEntries(Object.entries(packages).filter(([, { dev }]) => !dev || args.includes('--include=dev')));
  rmSync('node_modules', { recursive: true, force: true });
  mkdirSync('node_modules');
  writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: present }));
} else {
  if (args.includes('--no-package-lock')) rmSync('node_modules/.package-lock.json');
  const directory = 'node_modules/' + args.at(-1).split('@')[0] + '/bin';
  mkdirSync(directory, { recursive: true });
  writeFileSync(directory + '/node', '#!/bin/sh\\nexec "${process.execPath}" "$@"\\n', { mode: 0o755 });
}
`;

const module = (source: string) => `data:text/javascript,${encodeURIComponent(source)}`;

/** Makes a process believe that it is an older Node. */
const older = module("Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } })");
/** Makes a process believe that it is the installed Node, which npm puts first in PATH. */
const pinned = module(
  "import { globSync } from 'node:fs'; process.execPath = globSync(process.cwd() + '/node_modules/node-*/bin/node')[0] ?? process.execPath",
);

function bareClone(): string {
  const clone = mkdtempSync(join(tmpdir(), 'rds-clone-'));
  after(() => rmSync(clone, { recursive: true, force: true }));
  const programs = readdirSync(here).filter((name) => name.endsWith('.mjs'));
  for (const name of programs) cpSync(join(here, name), join(clone, 'scripts', name));
  mkdirSync(join(clone, 'src'));
  writeFileSync(join(clone, 'package.json'), '{"type":"module"}');
  writeFileSync(join(clone, 'package-lock.json'), JSON.stringify({ packages }));
  writeFileSync(join(clone, 'src/main.ts'), 'console.log("served");');
  writeFileSync(join(clone, 'scripts/check.ts'), 'console.log("checked");');
  writeFileSync(join(clone, 'npm.mjs'), fakeNpm);
  return clone;
}

/** @returns the output of the command, and the recorded arguments of npm */
function launch(clone: string, command: string, posing?: string): { stdout: string; asked: string[] } {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [...(posing ? [`--import=${posing}`] : []), join(clone, 'scripts/launch.mjs'), command],
    {
      cwd: clone,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, npm_execpath: join(clone, 'npm.mjs'), npm_node_execpath: process.execPath },
    },
  );
  assert.equal(status, 0, stderr);
  const notes = join(clone, 'asked');
  const asked = existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n') : [];
  rmSync(notes, { force: true });
  return { stdout: stdout.trim(), asked };
}

test('A start on a Node that is new enough installs what the service needs, once', () => {
  const clone = bareClone();
  assert.deepEqual(launch(clone, 'start'), { stdout: 'served', asked: ['ci --omit=dev'] });
  assert.deepEqual(launch(clone, 'start'), { stdout: 'served', asked: [] });
});

test('A start on an older Node installs what the service needs, and the pinned Node', {
  skip: process.platform === 'win32',
}, () => {
  const clone = bareClone();
  const { stdout, asked } = launch(clone, 'start', older);
  assert.deepEqual([stdout, asked[0], asked.length], ['served', 'ci --omit=dev', 2]);
  assert.match(asked[1] ?? '', /^install --omit=dev node-[\w-]+@24\.99\.0$/);
  assert.deepEqual(launch(clone, 'start', older), { stdout: 'served', asked: [] });
});

test('What works on the project installs everything, also after a start', () => {
  const clone = bareClone();
  launch(clone, 'start');
  assert.deepEqual(launch(clone, 'check'), { stdout: 'checked', asked: ['ci --include=dev'] });
  assert.deepEqual(launch(clone, 'start'), { stdout: 'served', asked: [] });
});

test('A start after the lock file has changed keeps the packages of who works on the project', () => {
  const clone = bareClone();
  launch(clone, 'check');
  const changed = { ...packages, 'node_modules/served': { version: '1.0.1' } };
  writeFileSync(join(clone, 'package-lock.json'), JSON.stringify({ packages: changed }));
  assert.deepEqual(launch(clone, 'start').asked, ['ci --include=dev']);
});

test('A start by the pinned Node installs that again where a change of the lock file has taken it away', {
  skip: process.platform === 'win32',
}, () => {
  const clone = bareClone();
  launch(clone, 'start', older);
  const changed = { ...packages, 'node_modules/served': { version: '1.0.1' } };
  writeFileSync(join(clone, 'package-lock.json'), JSON.stringify({ packages: changed }));
  const { stdout, asked } = launch(clone, 'start', pinned);
  assert.deepEqual([stdout, asked[0], asked.length], ['served', 'ci --omit=dev', 2]);
  assert.deepEqual(launch(clone, 'start', pinned), { stdout: 'served', asked: [] });
});
