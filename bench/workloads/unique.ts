import { testServer } from '../../src/storage/postgres/testing/server.ts';
import type { Service } from '../../test/support/service.ts';
import type { BenchContext } from '../support/context.ts';
import { fill, serviceTarget } from '../support/fill.ts';
import { LoadClient } from '../support/load-client.ts';
import { besideOf, PointReads, quantile } from '../support/point-reads.ts';
import { fields, indexes, makeRecord, table } from '../support/records.ts';
import { count, median, note, printTable, ratio, verdict } from '../support/report.ts';
import type { Prepared, Target } from '../support/target.ts';
import { connections } from './operations.ts';

/** Minimum rate of creates in a table with a unique index, and of upserts, as shares of creates and of a batch of creates in one without. */
const MIN_CREATE_SHARE = 0.9;
const MIN_UPSERT_SHARE = 0.7;
/** Records of a batch or an upsert. */
const PER_REQUEST = 100;
const creates = 60_000;
const batches = 600;

const keyed = 'Keyed';
const keys = { email: { fields: ['Email'], as: 'nocase' } };

let seed = 100_000_000;
const create = (to: string): Prepared => ({ method: 'POST', path: `/platform/classes/${to}`, body: makeRecord(seed++) });
const batch = (to: string): Prepared => ({
  method: 'POST',
  path: '/platform/batch',
  body: { requests: Array.from({ length: PER_REQUEST }, () => create(to)) },
});
const upsert = (first: () => number): Prepared => ({
  method: 'POST',
  path: `/platform/upsert/${keyed}`,
  body: { matchOn: ['Email'], records: Array.from({ length: PER_REQUEST }, () => makeRecord(first())) },
});
const many = (length: number, make: () => Prepared) => Array.from({ length }, make);

interface Kind {
  readonly name: string;
  /** Position of the kind that it is compared with. */
  readonly of?: number;
  readonly share?: number;
  requests(records: number): Prepared[];
}

const kinds: readonly Kind[] = [
  { name: 'create', requests: () => many(creates, () => create(table)) },
  { name: 'create, one unique index', of: 0, share: MIN_CREATE_SHARE, requests: () => many(creates, () => create(keyed)) },
  { name: `batch of ${PER_REQUEST} creates`, requests: () => many(batches, () => batch(table)) },
  { name: 'the same, one unique index', of: 2, share: MIN_CREATE_SHARE, requests: () => many(batches, () => batch(keyed)) },
  {
    name: `upsert of ${PER_REQUEST}, all new`,
    of: 2,
    share: MIN_UPSERT_SHARE,
    requests: () => many(batches, () => upsert(() => seed++)),
  },
  {
    name: `upsert of ${PER_REQUEST}, all there`,
    of: 2,
    share: MIN_UPSERT_SHARE,
    requests: (records) => {
      let next = 0;
      return many(batches, () => upsert(() => next++ % records));
    },
  },
];

/** Creates, batches and upserts in a table with a unique index and in one without, alternately; then unique indexes are built beside point reads. */
export async function unique(context: BenchContext): Promise<void> {
  const { scratch } = context;
  await measure(context, 'embedded', await scratch.service(await scratch.directory()));
  const server = await testServer({ fsync: 'on', full_page_writes: 'on', wal_level: 'replica', max_wal_senders: 10 });
  scratch.keep(server);
  const database = await server.database();
  const service = await scratch.service(await scratch.directory(), database);
  await measure(context, 'PostgreSQL', service, () => server.query('VACUUM ANALYZE', database));
}

async function measure(
  { records = 100_000, seconds, rounds, scratch }: BenchContext,
  engine: string,
  service: Service,
  settle: () => Promise<unknown> = async () => {},
): Promise<void> {
  const target = serviceTarget(service);
  for (const [className, more] of [
    [table, {}],
    [keyed, { uniqueIndexes: keys }],
  ] as const) {
    const { status, text } = await service.call('POST', `/platform/schemas/${className}`, { body: { fields, indexes, ...more } });
    if (status !== 200) throw new Error(text);
    await fill(target, records, 500, { path: `/platform/classes/${className}`, make: makeRecord });
  }
  await settle();
  await compare(engine, target, new LoadClient(scratch), { records, seconds, rounds });
  await build(engine, service);
}

async function compare(
  engine: string,
  target: Target,
  load: LoadClient,
  { records, seconds, rounds }: { records: number; seconds: number; rounds: number },
): Promise<void> {
  const rates = kinds.map((): number[] => []);
  for (let round = 1; round <= rounds; round++) {
    const order = [...kinds.keys()];
    for (const at of round % 2 === 1 ? order : order.toReversed()) {
      const requests = (kinds[at] as Kind).requests(records);
      const { perSecond } = await load.run(target, requests, { connections, seconds, warmup: 0.5 });
      rates[at]?.push(perSecond);
    }
    note(`${engine}: round ${round} of ${rounds} done`);
  }
  const middle = rates.map(median);
  const rows = kinds.map(({ name, of, share = 0 }, at) => {
    const rate = middle[at] as number;
    if (of === undefined) return [name, count(rate), '', '', ''];
    const reached = rate / (middle[of] as number);
    return [name, count(rate), ratio(reached), `≥ ${ratio(share)}`, verdict(reached >= share)];
  });
  const heading = `unique, ${engine}: ${connections} connections, medians of ${rounds} × ${seconds} s, ${count(records)} records`;
  printTable(heading, ['', 'req/s', 'of one without', 'target', ''], rows);
}

/** Builds unique indexes over the table without one. */
async function build(engine: string, service: Service): Promise<void> {
  const reads = await PointReads.begin(service);
  const { body } = await service.call('GET', `/platform/classes/${table}`, { query: { count: 1, limit: 0 } });
  const rows: string[][] = [];
  for (const as of ['text', 'nocase', 'phone'] as const) {
    const field = as === 'phone' ? 'Comment' : 'Email';
    const began = performance.now();
    const { result, took } = await reads.beside(
      service.call('PUT', `/platform/schemas/${table}`, { body: { uniqueIndexes: { [as]: { fields: [field], as } } } }),
    );
    const outcome = result.status === 200 ? 'built' : `refused: ${result.body.code}`;
    const seconds = `${((performance.now() - began) / 1000).toFixed(1)} s`;
    rows.push([
      `${as}: ${outcome}`,
      seconds,
      besideOf(reads.quiet, took, 0.99),
      `${quantile(took, 1 - 1 / took.length).toFixed(0)} ms`,
    ]);
  }
  printTable(
    `unique, ${engine}: an index built over ${count(body.count)} records`,
    ['', 'took', 'p99 of point reads: quiet, beside', 'slowest'],
    rows,
  );
}
