/** Several services on one database. */
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { makeDatabase } from '../support/data.ts';
import { type Store, storeOf } from '../support/records.ts';
import { type Answer, engines, type Service, startService } from '../support/service.ts';

/** What the service promises of many processes holds on PostgreSQL, which alone can be shared. */
export function describeProcesses(name: string, body: (stores: readonly Store[]) => void, count = 2): void {
  if (!engines.includes('postgres')) return;
  describe(name, () => {
    const running: Service[] = [];
    let remove = async (): Promise<void> => {};
    before(async () => {
      const database = await makeDatabase(true);
      remove = database.drop;
      running.push(...(await startServices(count, database)));
    });
    after(async () => {
      await Promise.all(running.map((service) => service.stop()));
      await remove();
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

/** So many services on one database, started at the same moment. @throws where one does not start; the others are stopped then */
export async function startServices(
  count: number,
  database: { url: string },
  env: Record<string, string> = {},
): Promise<Service[]> {
  const starts = await Promise.allSettled(Array.from({ length: count }, () => startService({ database, env })));
  const running = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  const failed = starts.find((start) => start.status === 'rejected');
  if (!failed) return running;
  await Promise.all(running.map((service) => service.stop()));
  throw failed.reason;
}

/** Runs something often, so that all that can be remembered of it is. */
export async function warm(what: () => Promise<unknown>): Promise<void> {
  for (let n = 0; n < 3; n++) await what();
  await Promise.all([what(), what(), what(), what()]);
}

/** Runs it so many times at the same moment. */
export const times = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)));

/** The same for what goes on beside the test, which awaits it later. */
export function together<T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> {
  const all = times(count, make);
  all.catch(() => {});
  return all;
}

/** Splits answers by success; none may be a fault. */
export function sorted(answers: readonly Answer[]): { done: Answer[]; refused: Answer[] } {
  for (const { status, text } of answers) assert.ok(status < 500, `${status} ${text}`);
  return { done: answers.filter(({ status }) => status < 300), refused: answers.filter(({ status }) => status >= 300) };
}

/** Both of two. */
export function both(stores: readonly Store[]): [Store, Store] {
  const [a, b] = stores;
  assert.ok(a && b);
  return [a, b];
}
