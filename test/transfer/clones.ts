/** Helpers of the suites about clones. Reference: clone.md#clone. */
import assert from 'node:assert/strict';
import type { Service } from '../support/service.ts';
import type { System } from '../systems/cli.ts';
import { backUp, credentialsIn, done, openedFile, run } from './backups.ts';
import { isServed, seenAs } from './other-system.ts';

/** A clone and what the command printed. */
export interface Clone extends System {
  output: string;
  stderr: string;
}

/** Clones a system and waits until the service serves the clone. */
export async function clone(service: Service, from: string, as: string, ...more: string[]): Promise<Clone> {
  const { code, stdout, stderr } = await run(service, ['system', 'clone', from, '--as', as, ...more]);
  assert.equal(code, 0, stdout + stderr);
  const system = credentialsIn(stdout);
  assert.equal(system.appId, as);
  await isServed(service, system);
  return { ...system, output: stdout, stderr };
}

/** The service, with the credentials of a clone. */
export const at = (service: Service, system: System): Service => seenAs(service, system);

/** Deletes systems. */
export async function remove(service: Service, ...systems: readonly System[]): Promise<void> {
  for (const { appId } of systems) await done(service, ['system', 'remove', appId, '--now']);
}

/** Returns the stored rows of every table of a system, hidden ones included, and the members of its Relations, as text by part. */
export async function dump(service: Service, folder: string, appId: string): Promise<Map<string, string>> {
  const members = await openedFile(await backUp(service, folder, appId, '--no-files'));
  return new Map(
    members.flatMap(({ name, bytes }) => {
      const part = /^(?:rows|members)\/(.*)[.]ndjson$/.exec(name)?.[1];
      return part === undefined ? [] : [[part, String(bytes)]];
    }),
  );
}

/** Number of rows of a part of a dump. */
export const rowsIn = (dumped: ReadonlyMap<string, string>, part: string): number =>
  dumped.get(part)?.split('\n').filter(Boolean).length ?? assert.fail(`there is no ${part}`);
