/** Suites of several services on one database. */
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import type { TestDatabase } from '../../src/storage/postgres/testing/server.ts';
import { makeDatabase } from '../support/data.ts';
import { type Store, storeOf } from '../support/records.ts';
import { type Answer, engines } from '../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';

/** Rounds of a race that both processes run. PROCESS_ROUNDS sets more of them for a long run. */
export const ROUNDS = Number(process.env.PROCESS_ROUNDS ?? 4);

/** Services on one database that the suites of this process share. */
const running: ServiceProcess[] = [];
let database: TestDatabase | undefined;

after(async () => {
  await Promise.all(running.map((service) => service.stop()));
  await database?.drop();
});

/** A suite of several services on one PostgreSQL database: SQLite cannot be shared. */
export function describeProcesses(name: string, body: (stores: readonly Store[]) => void, count = 2): void {
  if (!engines.includes('postgres')) return;
  describe(name, () => {
    before(async () => {
      database ??= await makeDatabase(true);
      running.push(...(await startServices(Math.max(0, count - running.length), database)));
    });
    body(
      Array.from({ length: count }, (_, n) =>
        storeOf(() => {
          const service = running[n];
          assert.ok(service, 'the service runs');
          return service;
        }),
      ),
    );
  });
}

/** Starts several services on one database at the same moment. @throws if one does not start; then the others are stopped */
export async function startServices(
  count: number,
  database: { url: string },
  env: Record<string, string> = {},
): Promise<ServiceProcess[]> {
  const starts = await Promise.allSettled(Array.from({ length: count }, () => startServiceProcess({ database, env })));
  const running = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  const failed = starts.find((start) => start.status === 'rejected');
  if (!failed) return running;
  await Promise.all(running.map((service) => service.stop()));
  throw failed.reason;
}

/** Repeats a request so that every cache that may hold its answer does. */
export async function warm(what: () => Promise<unknown>): Promise<void> {
  for (let n = 0; n < 3; n++) await what();
  await Promise.all([what(), what(), what(), what()]);
}

/** Runs something several times at the same moment. */
export const times = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)));

/** As `times`, for work in the background that the test awaits later. */
export function together<T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> {
  const all = times(count, make);
  all.catch(() => {});
  return all;
}

/** Splits answers by success. Asserts that none is a 5xx. */
export function sorted(answers: readonly Answer[]): { done: Answer[]; refused: Answer[] } {
  for (const { status, text } of answers) assert.ok(status < 500, `${status} ${text}`);
  return { done: answers.filter(({ status }) => status < 300), refused: answers.filter(({ status }) => status >= 300) };
}

/** Returns the first two. */
export function both(stores: readonly Store[]): [Store, Store] {
  const [a, b] = stores;
  assert.ok(a && b);
  return [a, b];
}
