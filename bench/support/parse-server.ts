import { spawn } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listening } from './listening.ts';
import { fields, indexes, table } from './records.ts';
import { note } from './report.ts';
import type { Scratch } from './scratch.ts';
import { send, type Target } from './target.ts';

const peer = fileURLToPath(new URL('../peers/parse-server/', import.meta.url));

/** Installs Parse Server and its SDK into a directory of the scratch. */
export async function installParseServer(scratch: Scratch): Promise<string> {
  const directory = await scratch.directory();
  await cp(peer, directory, { recursive: true });
  note('installing Parse Server');
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  await succeeded(scratch.watch(spawn('npm', args, { cwd: directory, stdio: 'ignore' })), 'npm ci');
  return directory;
}

/** Starts a program in this directory. */
export function runParseProgram(scratch: Scratch, directory: string, program: string, args: readonly string[]) {
  return scratch.watch(
    spawn(process.execPath, [join(directory, program), ...args], {
      cwd: directory,
      env: { PATH: process.env.PATH ?? '', NODE_ENV: 'production' },
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  );
}

/** Waits for a program to end successfully. */
export function succeeded(child: ReturnType<typeof spawn>, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${name} ended with ${code}`))));
  });
}

/** Starts Parse Server on an empty database and creates the table. */
export async function startParseServer(scratch: Scratch, databaseUrl: string): Promise<Target> {
  const directory = await installParseServer(scratch);
  const child = runParseProgram(scratch, directory, 'server.mjs', [databaseUrl]);
  const url = await listening(child, 'Parse Server');
  const [id, key] = [{ 'X-Parse-Application-Id': 'bench' }, { 'X-Parse-REST-API-Key': 'bench-rest' }];
  const target = { name: 'Parse Server', url, headers: { ...id, ...key } };
  const definition = { className: table, fields, indexes };
  const master = { ...target, headers: { ...id, 'X-Parse-Master-Key': 'bench-master' } };
  await send(master, { method: 'POST', path: `/platform/schemas/${table}`, body: definition });
  return target;
}
