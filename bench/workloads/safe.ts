import { randomBytes } from 'node:crypto';
import { testServer } from '../../src/storage/postgres/testing/server.ts';
import type { BenchContext } from '../support/context.ts';
import { cpuSecondsOf } from '../support/cpu.ts';
import { declareTable, fill, serviceTarget } from '../support/fill.ts';
import { LoadClient } from '../support/load-client.ts';
import { makeRecord, spread, table } from '../support/records.ts';
import { count, median, milliseconds, note, printTable, ratio, verdict } from '../support/report.ts';
import type { Prepared } from '../support/target.ts';
import { connections } from './operations.ts';

/** A kind of write, plain and safe, with the minimum share of the plain one's rate. */
interface Pair {
  readonly name: string;
  readonly target: number;
  plain(ids: readonly string[]): Prepared[];
  safe(ids: readonly string[]): Prepared[];
}

const path = `/platform/classes/${table}`;
const many = (length: number, make: (index: number) => Prepared) => Array.from({ length }, (_, index) => make(index));
const create = (index: number): Prepared => ({ method: 'POST', path, body: makeRecord(10_000_000 + index) });
const update = (ids: readonly string[], index: number): Prepared => ({
  method: 'PUT',
  path: `${path}/${ids[spread(index, ids.length)]}`,
  body: { Amount: index, Comment: `Called again, attempt ${index}.` },
});
const batch = (index: number, make: (item: number) => Prepared, more: object = {}): Prepared => ({
  method: 'POST',
  path: '/platform/batch',
  body: { ...more, requests: many(50, (item) => make(index * 50 + item)) },
});
/** A key is used once, so there are more requests than a measurement sends. */
const ONCE = 40_000;
const withKey = (one: Prepared): Prepared => ({ ...one, headers: { 'Idempotency-Key': randomBytes(16).toString('hex') } });

const pairs: readonly Pair[] = [
  {
    name: 'update with If-None-Match',
    target: 0.95,
    plain: (ids) => many(5_000, (index) => update(ids, index)),
    safe: (ids) => many(5_000, (index) => ({ ...update(ids, index), headers: { 'If-None-Match': '"1"' } })),
  },
  {
    name: 'create with a key',
    target: 0.8,
    plain: () => many(2_000, create),
    safe: () => many(ONCE, (index) => withKey(create(index))),
  },
  {
    name: 'update with a key',
    target: 0.8,
    plain: (ids) => many(5_000, (index) => update(ids, index)),
    safe: (ids) => many(ONCE, (index) => withKey(update(ids, index))),
  },
  {
    name: 'transaction of 50 creates',
    target: 1,
    plain: () => many(100, (index) => batch(index, create)),
    safe: () => many(100, (index) => batch(index, create, { transaction: true })),
  },
  {
    name: 'transaction of 50 updates',
    target: 1,
    plain: (ids) => many(100, (index) => batch(index, (item) => update(ids, item))),
    safe: (ids) => many(100, (index) => batch(index, (item) => update(ids, item), { transaction: true })),
  },
];

/** Requests a second, 99th percentile in milliseconds, and CPU seconds of the service per request, on which other load has less effect. */
interface Figures {
  readonly rate: number;
  readonly p99: number;
  readonly cpu: number;
}

/** Safe writes beside plain ones, in turn; embedded, then on PostgreSQL. */
export async function safe(context: BenchContext): Promise<void> {
  const { scratch } = context;
  await measure(context, 'embedded');
  const server = await testServer({ fsync: 'on', full_page_writes: 'on', wal_level: 'replica', max_wal_senders: 10 });
  scratch.keep(server);
  await measure(context, 'PostgreSQL', await server.database());
}

async function measure(context: BenchContext, engine: string, database?: { url: string }): Promise<void> {
  const { records = 20_000, rounds, seconds, scratch } = context;
  const service = await scratch.service(await scratch.directory(), database);
  await declareTable(service);
  const target = serviceTarget(service);
  const ids = await fill(target, records);
  const load = new LoadClient(scratch);
  const pid = service.process.pid ?? 0;
  const results = new Map<string, Figures[]>();
  for (let round = 1; round <= rounds; round++) {
    for (const pair of pairs)
      for (const side of round % 2 === 1 ? (['plain', 'safe'] as const) : (['safe', 'plain'] as const)) {
        const before = cpuSecondsOf(pid);
        const { perSecond, p99, answered } = await load.run(target, pair[side](ids), { connections, seconds, warmup: 0.5 });
        const cpu = (cpuSecondsOf(pid) - before) / answered;
        const key = `${side} ${pair.name}`;
        results.set(key, [...(results.get(key) ?? []), { rate: perSecond, p99, cpu }]);
      }
    note(`${engine}: round ${round} of ${rounds} done`);
  }
  const of = (key: string, figure: keyof Figures) => median((results.get(key) ?? []).map((one) => one[figure]));
  const rows = pairs.map(({ name, target: least }) => {
    const [own, plain] = [of(`safe ${name}`, 'rate'), of(`plain ${name}`, 'rate')];
    const share = own / plain;
    const latencies = [milliseconds(of(`safe ${name}`, 'p99')), milliseconds(of(`plain ${name}`, 'p99'))];
    const cpu = of(`safe ${name}`, 'cpu') / of(`plain ${name}`, 'cpu');
    return [name, count(own), count(plain), ratio(share), `≥ ${ratio(least)}`, verdict(share >= least), ratio(cpu), ...latencies];
  });
  const heading = `safe, ${engine}: ${count(records)} records, ${connections} connections, medians of ${rounds} × ${seconds} s`;
  printTable(heading, ['', 'safe req/s', 'plain req/s', 'ratio', 'target', '', 'CPU a request', 'p99', 'plain p99'], rows);
}
