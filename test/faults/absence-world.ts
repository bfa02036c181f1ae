/** Three systems of one installation, as files that can be taken away, and what can be asked of them. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Service } from '../support/service.ts';
import { soon } from '../support/soon.ts';
import { addSystem, callSystem, type System } from '../systems/cli.ts';

export const names = ['testapp', 'two', 'three'] as const;
export type Name = (typeof names)[number];
export type World = Readonly<Record<Name, System>>;

/** Adds the two other systems. */
export async function addOthers(service: Service): Promise<World> {
  const { appId, masterKey, apiKey } = service;
  const two = await addSystem(service, '--app-id', 'two');
  return { testapp: { appId, masterKey, apiKey }, two, three: await addSystem(service, '--app-id', 'three') };
}

/** Adds a record to each system. @param mark names it */
export async function writeTo(service: Service, world: World, mark: string): Promise<void> {
  for (const name of names) {
    const answer = await callSystem(service, world[name], 'POST', '/platform/classes/Kept', { body: { mark } });
    assert.equal(answer.status, 201, answer.text);
  }
}

/** What a system answers: the marks of its records, or its status. */
export async function marksOf(service: Service, system: System): Promise<string[] | number> {
  const answer = await callSystem(service, system, 'GET', '/platform/classes/Kept', { query: { order: 'createdAt' } });
  return answer.status === 200 ? answer.body.results.map(({ mark }: { mark: string }) => mark) : answer.status;
}

export async function allMarks(service: Service, world: World): Promise<Record<string, string[] | number>> {
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await marksOf(service, world[name])])));
}

/** Waits until a system answers so. */
export async function untilMarks(service: Service, system: System, marks: string[] | number): Promise<void> {
  await soon(async () => assert.deepEqual(await marksOf(service, system), marks), 10_000);
}

/** The bytes of every file under a directory, but for those that SQLite makes anew each time. */
export function bytesUnder(directory: string): Map<string, string> {
  const found = new Map<string, string>();
  if (!existsSync(directory)) return found;
  for (const name of readdirSync(directory, { recursive: true }) as string[]) {
    const path = join(directory, name);
    if (!statSync(path).isFile() || /-shm$|\.lock$|registry\.sqlite-mark$/.test(name)) continue;
    const bytes = readFileSync(path);
    // Who only looks at a file leaves an empty log.
    if (bytes.length === 0 && name.endsWith('-wal')) continue;
    found.set(relative(directory, path), createHash('sha256').update(bytes).digest('hex'));
  }
  return found;
}
