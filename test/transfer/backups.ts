/** Helpers of the backup suites: run the commands of an operator, read and write archives without the program. Reference: backup.md#format-of-a-backup. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { Decrypter, Encrypter, generateIdentity, identityToRecipient } from 'age-encryption';
import { extract, pack } from 'tar-stream';
import type { Run } from '../edge/process.ts';
import type { Data } from '../support/data.ts';
import { settingsOf } from '../support/data.ts';
import { runCommand } from '../support/hosts/run-command.ts';
import { compileCache } from '../support/service.ts';
import type { System } from '../systems/cli.ts';

export const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export interface Part {
  name: string;
  count: number;
  bytes: number;
  sha256: string;
}

export interface Manifest {
  format: number;
  version: string;
  engine: string;
  appId: string;
  name: string;
  madeAt: string;
  parts: Part[];
}

export interface Member {
  name: string;
  bytes: Buffer;
}

/** Creates a temporary folder that is removed after the tests. */
export async function folderForTest(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rds-backups-'));
  after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs a command on the data of a service, in the host of commands (support/hosts/run-command.ts). */
export const run = (data: Data, args: readonly string[], env: Record<string, string> = {}): Promise<Run> =>
  runCommand(args, { LOG_LEVEL: 'error', ...settingsOf(data), ...env }, data.dataDir);

/** Runs a command that has to succeed without output on stderr. @returns its standard output */
export async function done(data: Data, args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await run(data, args, env);
  assert.deepEqual([code, stderr], [0, ''], `${args.join(' ')}: ${stdout}`);
  return stdout;
}

/** Runs a command that has to fail with code 1, nothing on stdout and one line on stderr that matches. */
export async function refused(
  data: Data,
  args: readonly string[],
  says: RegExp,
  env: Record<string, string> = {},
): Promise<void> {
  assertRefused(await run(data, args, env), says, args.join(' '));
}

export function assertRefused({ code, stdout, stderr }: Run, says: RegExp, what = ''): void {
  assert.deepEqual([code, stdout], [1, ''], `${what}: ${stderr}`);
  assert.match(stderr, says, what);
  assert.match(stderr, /^record-service: [^\n]+\n$/, `${what}: one line: ${stderr}`);
}

/** Backs up one system into a folder. @returns the file */
export async function backUp(data: Data, folder: string, appId: string, ...more: string[]): Promise<string> {
  const line = await done(data, ['backup', '--to', folder, '--system', appId, '--quiet', ...more]);
  return line.trim().split('\t').at(-1) ?? '';
}

/** Parses the credentials of a restored system from the output of `restore`. */
export function credentialsIn(output: string): System {
  const value = (label: string) => new RegExp(`^${label}: (\\S+)$`, 'm').exec(output)?.[1] ?? assert.fail(output);
  return { appId: value('Application id'), masterKey: value('Master key'), apiKey: value('API key') };
}

/** Starts a command in its own process, which can be killed. Its standard output is kept as bytes. */
export function begin(data: Data, args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [main, ...args], {
    cwd: data.dataDir,
    env: { PATH: process.env.PATH ?? '', LOG_LEVEL: 'error', ...compileCache, ...settingsOf(data), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: Buffer[] = [];
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  const ended = once(child, 'close').then(([code]) => {
    const bytes = Buffer.concat(chunks);
    return { code: code as number | null, bytes, stdout: bytes.toString(), stderr };
  });
  return { child, ended };
}

/** Returns the members of an archive, in their order. */
export async function membersOf(bytes: Buffer): Promise<Member[]> {
  const archive = extract();
  archive.end(zstdDecompressSync(bytes));
  const members: Member[] = [];
  for await (const entry of archive) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(chunk as Buffer);
    members.push({ name: entry.header.name, bytes: Buffer.concat(chunks) });
  }
  return members;
}

export async function tarOf(members: readonly Member[]): Promise<Buffer> {
  const archive = pack();
  for (const { name, bytes } of members) archive.entry({ name }, bytes);
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Makes an archive of any members. */
export const archived = async (members: readonly Member[]): Promise<Buffer> => zstdCompressSync(await tarOf(members));

export const partOf = ({ name, bytes }: Member): Part => ({
  name,
  count: name.endsWith('.ndjson') ? bytes.toString().split('\n').length - 1 : 1,
  bytes: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
});

export const manifestOf = (members: readonly Member[]): Manifest => JSON.parse(String(members[0]?.bytes));

export const member = (name: string, value: unknown): Member => ({
  name,
  bytes: Buffer.isBuffer(value) ? value : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
});

/** Makes an age key pair. @returns the recipient for `--recipient`, and the file for `--identity` */
export async function keyIn(folder: string, name: string): Promise<{ recipient: string; identity: string; file: string }> {
  const identity = await generateIdentity();
  const file = join(folder, name);
  await writeFile(file, `# made by a test\n${identity}\n`);
  return { recipient: await identityToRecipient(identity), identity, file };
}

export async function decrypted(bytes: Buffer, identity: string): Promise<Buffer> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  return Buffer.from(await decrypter.decrypt(bytes));
}

export async function encrypted(bytes: Buffer, recipient: string): Promise<Buffer> {
  const encrypter = new Encrypter();
  encrypter.addRecipient(recipient);
  return Buffer.from(await encrypter.encrypt(bytes));
}

export const openedFile = async (file: string): Promise<Member[]> => membersOf(await readFile(file));

/** Returns the paths of all files below a folder, relative to it and sorted. */
export async function namesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}
