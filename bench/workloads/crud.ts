import type { BenchContext } from '../support/context.ts';
import { declareTable, fill, serviceTarget } from '../support/fill.ts';
import { LoadClient } from '../support/load-client.ts';
import { startPeer } from '../support/peer.ts';
import { amounts, cities, makeRecord, spread, table } from '../support/records.ts';
import { count, median, milliseconds, note, printTable, ratio, verdict } from '../support/report.ts';
import { type Prepared, send, type Target } from '../support/target.ts';

interface Operation {
  name: string;
  /** The share of bare Fastify that DESIGN.md asks for, where it does. */
  target?: number;
  /** DESIGN.md's figure of Parse Server times its target: of another machine, for orientation only. */
  orientation: number;
  requests(ids: string[]): Prepared[];
}

const path = `/platform/classes/${table}`;
const connections = 32;
const query = (where: unknown, rest: string): Prepared => ({
  method: 'GET',
  path: `${path}?where=${encodeURIComponent(JSON.stringify(where))}&${rest}`,
});
const many = (length: number, make: (index: number) => Prepared) => Array.from({ length }, (_, index) => make(index));
const pick = (ids: string[], seed: number) => ids[spread(seed, ids.length)] ?? '';
// Records made for writing start above every loaded one.
const fresh = (index: number): Prepared => ({ method: 'POST', path, body: makeRecord(10_000_000 + index) });

const operations: Operation[] = [
  {
    name: 'read one',
    target: 0.6,
    orientation: 1112 * 8,
    requests: (ids) => many(5000, (index) => ({ method: 'GET', path: `${path}/${pick(ids, index)}` })),
  },
  {
    name: 'list 100',
    orientation: 297 * 5,
    requests: () => many(500, (index) => query({ Amount: { $gte: spread(index, amounts * 0.95) } }, 'order=Amount&limit=100')),
  },
  {
    name: 'count',
    orientation: 617 * 8,
    requests: () => many(cities, (index) => query({ City: `City ${index}` }, 'count=1&limit=0')),
  },
  { name: 'create', target: 0.6, orientation: 911 * 8, requests: () => many(2000, fresh) },
  {
    name: 'update',
    orientation: 841 * 10,
    requests: (ids) =>
      many(5000, (index) => {
        const body = { Amount: spread(index, amounts), Comment: `Called again, attempt ${index}.` };
        return { method: 'PUT', path: `${path}/${pick(ids, index)}`, body };
      }),
  },
  {
    name: 'batch of 50',
    orientation: 42 * 15,
    requests: () =>
      many(100, (index) => {
        const requests = many(50, (item) => fresh(index * 50 + item));
        return { method: 'POST', path: '/platform/batch', body: { requests } };
      }),
  },
];

/** The six operations at 32 connections, the service and bare Fastify in turn, round by round. */
export async function crud({ records = 100_000, seconds, rounds, scratch }: BenchContext): Promise<void> {
  const service = await scratch.service(await scratch.directory());
  await declareTable(service);
  const targets = [serviceTarget(service), await startPeer(scratch)] as const;
  const ids = new Map<Target, string[]>();
  for (const target of targets) ids.set(target, await fill(target, records));
  for (const target of targets) await checkAnswers(target, ids.get(target) ?? []);

  const load = new LoadClient(scratch);
  const rates = new Map<string, number[]>();
  const tails = new Map<string, number[]>();
  for (let round = 1; round <= rounds; round++) {
    for (const operation of operations) {
      // The order turns every round, so that neither side always finds the machine as the other has left it.
      for (const target of round % 2 === 1 ? targets : targets.toReversed()) {
        const requests = operation.requests(ids.get(target) ?? []);
        const result = await load.run(target, requests, { connections, seconds, warmup: 0.5 });
        const key = `${operation.name}/${target.name}`;
        rates.set(key, [...(rates.get(key) ?? []), result.perSecond]);
        tails.set(key, [...(tails.get(key) ?? []), result.p99]);
      }
    }
    note(`round ${round} of ${rounds} done`);
  }

  const [own, bare] = targets;
  const rows = operations.map((operation) => {
    const rate = (target: Target) => median(rates.get(`${operation.name}/${target.name}`) ?? []);
    const tail = (target: Target) => median(tails.get(`${operation.name}/${target.name}`) ?? []);
    const share = rate(own) / rate(bare);
    const target =
      operation.target === undefined ? ['–', ''] : [`≥ ${ratio(operation.target)}`, verdict(share >= operation.target)];
    const latencies = [milliseconds(tail(own)), milliseconds(tail(bare))];
    return [
      operation.name,
      count(rate(own)),
      count(rate(bare)),
      ratio(share),
      ...target,
      ...latencies,
      count(operation.orientation),
    ];
  });
  const heading = `crud: ${count(records)} records of 12 fields, ${connections} connections, medians of ${rounds} × ${seconds} s`;
  const columns = ['operation', 'service req/s', 'bare req/s', 'ratio', 'target', '', 'p99', 'bare p99', 'Parse × target (*)'];
  printTable(heading, columns, rows);
  console.log('(*) the requests a second that DESIGN.md wants over its Parse Server figures, which are of another machine');
}

/** Both sides must do the same work before their speeds are compared. */
async function checkAnswers(target: Target, ids: string[]): Promise<void> {
  for (const { name, requests } of operations.slice(0, 3)) {
    const [first] = requests(ids);
    const answer = first && (await send(target, first));
    const right =
      name === 'read one' ? typeof answer.Name === 'string' : name === 'count' ? answer.count > 0 : answer.results.length > 0;
    if (!right) throw new Error(`${target.name}: ${name} answered ${JSON.stringify(answer).slice(0, 500)}`);
  }
}
