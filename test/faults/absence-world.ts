/** An installation of several systems whose stores a test takes away or damages, and what its systems answer. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { path } from '../support/records.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { soon } from '../support/soon.ts';
import { addSystem, callSystem, type System } from '../systems/cli.ts';
import { UNAVAILABLE } from './answers.ts';

/** Systems by their application id. */
export type World = Readonly<Record<string, System>>;

/** Marks of the records of each system, or the status of the answer. */
export type Marks = Readonly<Record<string, readonly string[] | number>>;

const KEPT = path('Kept');

/** Adds systems of these ids. @returns them and the first system */
export async function addOthers(service: ServiceProcess, names: readonly string[]): Promise<World> {
  const { appId, masterKey, apiKey } = service;
  const world: Record<string, System> = { [appId]: { appId, masterKey, apiKey } };
  for (const name of names) world[name] = await addSystem(service, '--app-id', name);
  return world;
}

/** Adds a record to each system. @param mark identifies it */
export async function writeTo(service: ServiceProcess, world: World, mark: string): Promise<void> {
  for (const system of Object.values(world)) {
    const answer = await callSystem(service, system, 'POST', KEPT, { body: { mark } });
    assert.equal(answer.status, 201, answer.text);
  }
}

/** Returns the marks of a system's records, or the status of the answer if it is not 200. */
export async function marksOf(service: ServiceProcess, system: System | undefined): Promise<string[] | number> {
  assert.ok(system);
  const answer = await callSystem(service, system, 'GET', KEPT, { query: { order: 'createdAt' } });
  return answer.status === 200 ? answer.body.results.map(({ mark }: { mark: string }) => mark) : answer.status;
}

export async function allMarks(service: ServiceProcess, world: World): Promise<Marks> {
  const all = Object.entries(world).map(async ([name, system]) => [name, await marksOf(service, system)] as const);
  return Object.fromEntries(await Promise.all(all));
}

/** Asserts that reads and writes of a system are refused with 503 and Retry-After. */
export async function assertUnavailable(service: ServiceProcess, system: System | undefined): Promise<void> {
  assert.ok(system);
  for (const [method, options] of [
    ['GET', {}],
    ['POST', { body: { mark: 'refused' } }],
  ] as const) {
    const { status, text, headers } = await callSystem(service, system, method, KEPT, options);
    assert.deepEqual([status, text], [503, UNAVAILABLE]);
    assert.match(headers.get('retry-after') ?? '', /^\d+$/);
  }
}

/** Waits until a system answers with these marks. */
export async function untilMarks(service: ServiceProcess, system: System | undefined, marks: readonly string[]): Promise<void> {
  await soon(async () => assert.deepEqual(await marksOf(service, system), marks), 10_000);
}

/** Hashes every file under a directory, except those that SQLite recreates at each start. */
export function bytesUnder(directory: string): Map<string, string> {
  const found = new Map<string, string>();
  if (!existsSync(directory)) return found;
  for (const name of readdirSync(directory, { recursive: true }) as string[]) {
    const file = join(directory, name);
    if (!statSync(file).isFile() || /-shm$|\.lock$|registry\.sqlite-mark$/.test(name)) continue;
    const bytes = readFileSync(file);
    // A process that only reads a database leaves an empty log.
    if (bytes.length === 0 && name.endsWith('-wal')) continue;
    found.set(relative(directory, file), createHash('sha256').update(bytes).digest('hex'));
  }
  return found;
}
