import type { BenchContext } from '../support/context.ts';
import { LoadClient } from '../support/load-client.ts';
import { amounts, cities, makeRecord, spread, table } from '../support/records.ts';
import { median, note } from '../support/report.ts';
import { type Prepared, send, type Target } from '../support/target.ts';

/** A kind of request, with its targets. */
export interface Operation {
  name: string;
  /** The design target as a share of bare Fastify's rate, if there is one. */
  target?: number;
  /** The design targets as factors over Parse Server on PostgreSQL: for the embedded engine, and for PostgreSQL. */
  overParse: readonly [embedded: number, postgres: number];
  requests(ids: string[]): Prepared[];
}

const path = `/platform/classes/${table}`;
export const connections = 32;
const query = (where: unknown, rest: string): Prepared => ({
  method: 'GET',
  path: `${path}?where=${encodeURIComponent(JSON.stringify(where))}&${rest}`,
});
const many = (length: number, make: (index: number) => Prepared) => Array.from({ length }, (_, index) => make(index));
const pick = (ids: string[], seed: number) => ids[spread(seed, ids.length)] ?? '';
// Records created for writing are numbered above the loaded ones.
const fresh = (index: number): Prepared => ({ method: 'POST', path, body: makeRecord(10_000_000 + index) });

/** The six operations that have design targets. */
export const operations: Operation[] = [
  {
    name: 'read one',
    target: 0.9,
    overParse: [7, 6],
    requests: (ids) => many(5000, (index) => ({ method: 'GET', path: `${path}/${pick(ids, index)}` })),
  },
  {
    name: 'list 100',
    target: 1.5,
    overParse: [4, 5],
    requests: () => many(500, (index) => query({ Amount: { $gte: spread(index, amounts * 0.95) } }, 'order=Amount&limit=100')),
  },
  {
    name: 'count',
    target: 1,
    overParse: [3, 2.5],
    requests: () => many(cities, (index) => query({ City: `City ${index}` }, 'count=1&limit=0')),
  },
  { name: 'create', target: 0.8, overParse: [8, 6], requests: () => many(2000, fresh) },
  {
    name: 'update',
    target: 0.75,
    overParse: [8, 6],
    requests: (ids) =>
      many(5000, (index) => {
        const body = { Amount: spread(index, amounts), Comment: `Called again, attempt ${index}.` };
        return { method: 'PUT', path: `${path}/${pick(ids, index)}`, body };
      }),
  },
  {
    name: 'batch of 50',
    target: 1.1,
    overParse: [12, 12],
    requests: () =>
      many(100, (index) => {
        const requests = many(50, (item) => fresh(index * 50 + item));
        return { method: 'POST', path: '/platform/batch', body: { requests } };
      }),
  },
];

/** Medians for a target and an operation. */
export interface Measured {
  /** Requests per second. */
  readonly rate: number;
  /** 99th percentile of the latencies, in milliseconds. */
  readonly p99: number;
}

/**
 * Measures every operation on every target alternately, in rounds.
 * @param ids the records that each target holds
 * @returns measurements by operation and target
 */
export async function measureInTurn(
  { rounds, seconds, scratch }: BenchContext,
  ids: ReadonlyMap<Target, string[]>,
): Promise<(operation: Operation, target: Target) => Measured> {
  const targets = [...ids.keys()];
  for (const target of targets) await checkAnswers(target, ids.get(target) ?? []);
  const load = new LoadClient(scratch);
  const results = new Map<string, Measured[]>();
  const keyOf = (operation: Operation, target: Target) => `${operation.name}/${target.name}`;
  for (let round = 1; round <= rounds; round++) {
    for (const operation of operations) {
      // The order alternates, so that no side always follows the same other one.
      for (const target of round % 2 === 1 ? targets : targets.toReversed()) {
        const requests = operation.requests(ids.get(target) ?? []);
        const { perSecond, p99 } = await load.run(target, requests, { connections, seconds, warmup: 0.5 });
        const key = keyOf(operation, target);
        results.set(key, [...(results.get(key) ?? []), { rate: perSecond, p99 }]);
      }
    }
    note(`round ${round} of ${rounds} done`);
  }
  return (operation, target) => {
    const all = results.get(keyOf(operation, target)) ?? [];
    return { rate: median(all.map(({ rate }) => rate)), p99: median(all.map(({ p99 }) => p99)) };
  };
}

/** Checks that both sides do the same work before comparing their speed. */
async function checkAnswers(target: Target, ids: string[]): Promise<void> {
  for (const { name, requests } of operations.slice(0, 3)) {
    const [first] = requests(ids);
    const answer = first && (await send(target, first));
    const right =
      name === 'read one' ? typeof answer.Name === 'string' : name === 'count' ? answer.count > 0 : answer.results.length > 0;
    if (!right) throw new Error(`${target.name}: ${name} answered ${JSON.stringify(answer).slice(0, 500)}`);
  }
}
