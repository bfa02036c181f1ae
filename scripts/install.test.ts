/** The launcher in a clone without packages, with a fake npm that records its arguments. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const packages = {
  '': { name: 'clone' },
  'node_modules/served': { version: '1.0.0' },
  'node_modules/tested': { version: '2.0.0', dev: true },
  'node_modules/node': { version: '24.99.0', dev: true },
};
const platform = `node-${process.platform}-${process.arch}`;
const isSkipped = { skip: process.platform === 'win32' };

/** Records its directory and arguments and installs what they name: the packages of the lock file, or the current Node. Fails if there is a file `broken`. */
const fakeNpm = `
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
const [command, ...args] = process.argv.slice(2).filter((arg) => !/^--(no-|loglevel)/.test(arg));
const where = process.cwd() === import.meta.dirname ? '' : basename(process.cwd()) + ': ';
appendFileSync(import.meta.dirname + '/asked', where + [command, ...args].join(' ') + '\\n');
rmSync('node_modules', { recursive: true, force: true });
if (existsSync(import.meta.dirname + '/slow')) await new Promise((resolve) => setTimeout(resolve, 400));
if (existsSync(import.meta.dirname + '/broken')) {
  console.error('npm error code EINTEGRITY');
  process.exit(1);
}
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
if (command === 'install') packages['node_modules/' + args[0].split('@')[0]] = { version: args[0].split('@')[1] };
const present = Object.fromEntries(Object.entries(packages).filter(([, { dev }]) => !dev || args.includes('--include=dev')));
for (const path of Object.keys(present).filter((path) => path.includes('node_modules/node-'))) {
  mkdirSync(path + '/bin', { recursive: true });
  mkdirSync(path + '/include');
  writeFileSync(path + '/bin/node', '#!/bin/sh\\nexec "${process.execPath}" "$@"\\n', { mode: 0o755 });
}
mkdirSync('node_modules/served/lib', { recursive: true });
for (const name of ['index.js', 'index.d.ts', 'index.js.map', 'index.test.js', 'lib/index.d.mts.map']) writeFileSync('node_modules/served/' + name, '');
writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: present }));
`;

const module = (source: string) => `data:text/javascript,${encodeURIComponent(source)}`;

/** Makes a process believe that it is an older Node. */
const older = module("Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } })");
interface Clone {
  readonly path: string;
  /** Writes the lock file with other packages, and that of the runtime with another version of Node. */
  lock(changed: object, node?: string): void;
  write(name: string, text?: string): void;
}

function bareClone(): Clone {
  const path = mkdtempSync(join(tmpdir(), 'rds-clone-'));
  after(() => rmSync(path, { recursive: true, force: true }));
  const write = (name: string, text = '') => writeFileSync(join(path, name), text);
  const lock = (changed: object, node = '24.99.0') => {
    write('package-lock.json', JSON.stringify({ packages: { ...packages, ...changed } }));
    write('runtime/package-lock.json', JSON.stringify({ packages: { [`node_modules/${platform}`]: { version: node } } }));
  };
  const programs = readdirSync(here).filter((name) => name.endsWith('.mjs'));
  for (const name of programs) cpSync(join(here, name), join(path, 'scripts', name));
  for (const name of ['src', 'runtime']) mkdirSync(join(path, name));
  write('package.json', '{"type":"module"}');
  write('src/main.ts', 'console.log("served");');
  write('scripts/check.ts', 'console.log("checked");');
  write('npm.mjs', fakeNpm);
  lock({});
  return { path, lock, write };
}

/** Starts a command of the launcher. */
function begin({ path }: Clone, command: string, posing?: string) {
  const args = [...(posing ? [`--import=${posing}`] : []), join(path, 'scripts/launch.mjs'), command];
  const env = { PATH: process.env.PATH, npm_execpath: join(path, 'npm.mjs'), npm_node_execpath: process.execPath };
  const child = spawn(process.execPath, args, { cwd: path, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  const ended = once(child, 'close').then(([code]) => ({ ...output, code: code as number | null }));
  return { child, ended };
}

/** @returns the recorded arguments of npm since the last call, sorted: the runtime is installed beside the packages */
function asked({ path }: Clone): string[] {
  const notes = join(path, 'asked');
  const lines = existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n') : [];
  rmSync(notes, { force: true });
  return lines.sort();
}

/** @returns the output of the command, and the recorded arguments of npm */
async function launch(clone: Clone, command: string, posing?: string): Promise<{ stdout: string; asked: string[] }> {
  const { stdout, stderr, code } = await begin(clone, command, posing).ended;
  assert.equal(code, 0, stderr);
  return { stdout: stdout.trim(), asked: asked(clone) };
}

/** Waits until npm works. */
async function working(clone: Clone): Promise<void> {
  while (!existsSync(join(clone.path, 'asked'))) await wait(10);
}

test('A start on a Node that is new enough installs what the service needs, once', async () => {
  const clone = bareClone();
  assert.deepEqual(await launch(clone, 'start'), { stdout: 'served', asked: ['ci --omit=dev'] });
  assert.deepEqual(await launch(clone, 'start'), { stdout: 'served', asked: [] });
});

test('A start on an older Node installs what the service needs, and the pinned Node without its headers', isSkipped, async () => {
  const clone = bareClone();
  assert.deepEqual(await launch(clone, 'start', older), { stdout: 'served', asked: ['ci --omit=dev', 'runtime: ci'] });
  assert.deepEqual(readdirSync(join(clone.path, 'runtime/node_modules', platform)), ['bin']);
  assert.deepEqual(await launch(clone, 'start', older), { stdout: 'served', asked: [] });
  clone.lock({ 'node_modules/served': { version: '1.0.1' } });
  assert.deepEqual(await launch(clone, 'start', older), { stdout: 'served', asked: ['ci --omit=dev'] });
  clone.lock({ 'node_modules/served': { version: '1.0.1' }, 'node_modules/node': { version: '24.99.1', dev: true } }, '24.99.1');
  assert.deepEqual(await launch(clone, 'start', older), { stdout: 'served', asked: ['runtime: ci'] });
});

test('A platform whose Node is not locked gets that of the version of the development dependencies', isSkipped, async () => {
  const clone = bareClone();
  clone.write('runtime/package-lock.json', '{"packages":{}}');
  const expected = ['ci --omit=dev', `runtime: install ${platform}@24.99.0`];
  assert.deepEqual(await launch(clone, 'start', older), { stdout: 'served', asked: expected });
  assert.deepEqual(await launch(clone, 'start', older), { stdout: 'served', asked: [] });
});

test('A start leaves out source maps and tests of packages; what works on the project installs everything, also after that', async () => {
  const clone = bareClone();
  await launch(clone, 'start');
  const served = join(clone.path, 'node_modules/served');
  assert.deepEqual(readdirSync(served, { recursive: true }).sort(), ['index.d.ts', 'index.js', 'lib']);
  // npm takes its record to be out of date if a package is newer.
  const changedAt = (path: string) => statSync(path).mtimeMs;
  assert.ok(changedAt(join(clone.path, 'node_modules/.package-lock.json')) >= changedAt(served));
  assert.deepEqual(await launch(clone, 'check'), { stdout: 'checked', asked: ['ci --include=dev'] });
  assert.equal(readdirSync(served).length, 5);
  assert.deepEqual(await launch(clone, 'start'), { stdout: 'served', asked: [] });
});

test('A start after the lock file has changed keeps the packages of who works on the project', async () => {
  const clone = bareClone();
  await launch(clone, 'check');
  clone.lock({ 'node_modules/served': { version: '1.0.1' } });
  assert.deepEqual((await launch(clone, 'start')).asked, ['ci --include=dev']);
});

test('Two starts at once install once', async () => {
  const clone = bareClone();
  clone.write('slow');
  const [first, second] = await Promise.all([begin(clone, 'start').ended, begin(clone, 'start').ended]);
  assert.deepEqual([first.stdout, second.stdout, asked(clone)], ['served\n', 'served\n', ['ci --omit=dev']]);
  assert.match(first.stderr + second.stderr, /Waiting for another installation/);
});

test('A start after one that was interrupted installs what is missing', async () => {
  const clone = bareClone();
  clone.write('slow');
  const interrupted = begin(clone, 'start');
  await working(clone);
  interrupted.child.kill('SIGTERM');
  assert.equal((await interrupted.ended).code, 143);
  assert.deepEqual(await launch(clone, 'start'), { stdout: 'served', asked: ['ci --omit=dev', 'ci --omit=dev'] });
});

test('A start waits for the npm of one that was killed', async () => {
  const clone = bareClone();
  clone.write('slow');
  const killed = begin(clone, 'start');
  await working(clone);
  killed.child.kill('SIGKILL');
  assert.deepEqual(await launch(clone, 'start'), { stdout: 'served', asked: ['ci --omit=dev'] });
});

test('A start says why npm failed, and the next one installs', async () => {
  const clone = bareClone();
  clone.write('broken');
  const { code, stdout, stderr } = await begin(clone, 'start').ended;
  assert.deepEqual([code, stdout, asked(clone)], [1, '', ['ci --omit=dev']]);
  assert.match(stderr, /^npm ci --omit=dev failed in .*:\nnpm error code EINTEGRITY$/m);
  rmSync(join(clone.path, 'broken'));
  assert.deepEqual(await launch(clone, 'start'), { stdout: 'served', asked: ['ci --omit=dev'] });
});
