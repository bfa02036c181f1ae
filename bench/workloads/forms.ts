import { testServer } from '../../src/storage/postgres/testing/server.ts';
import type { Service } from '../../test/support/service.ts';
import type { BenchContext } from '../support/context.ts';
import { type Filling, fill, serviceTarget } from '../support/fill.ts';
import { LoadClient } from '../support/load-client.ts';
import { makeRecord, spread } from '../support/records.ts';
import { count, median, milliseconds, note, printTable, ratio, verdict } from '../support/report.ts';
import { type Prepared, send, type Target } from '../support/target.ts';
import { connections } from './operations.ts';

/** Minimum share of a plain create's rate for a lead. */
const MIN_RATE_SHARE = 0.5;
/** At least as many as a client sends during a round, so that every new form stays new. */
const perRound = 30_000;

/** Fields that a web form and a create by an integrator have in common. */
function lead(seed: number): Record<string, unknown> {
  const { Name, PhoneNumber, Email, City, Comment } = makeRecord(seed);
  return { Name, PhoneNumber: phone(PhoneNumber), Email, City, Comment };
}

/** Adds separators as people do, so that no stored text equals the searched one. */
const phone = (digits: unknown) => String(digits).replace(/^(\d{3})(\d{3})/, '$1-$2-');

const accounts: Filling = {
  path: '/platform/classes/Accounts',
  make: (seed) => ({ ...lead(seed), IsAccount: seed % 2 === 0, dontUpdatePlatformTimeline: true }),
};

interface Kind {
  name: string;
  /** Whether the target applies. */
  isJudged: boolean;
  request(seed: number, stored: number): Prepared;
}

/** The first is the baseline. */
export const kindsOf = ({ appId }: Service): readonly Kind[] => {
  const form = (name: string, body: unknown): Prepared => ({ method: 'POST', path: `/functions/${appId}/${name}`, body });
  return [
    {
      name: 'plain create',
      isJudged: false,
      request: (seed) => ({ method: 'POST', path: accounts.path, body: { ...lead(seed), IsAccount: false } }),
    },
    { name: 'getlead, nobody known', isJudged: true, request: (seed) => form('getlead', lead(seed)) },
    {
      name: 'getlead, known by phone',
      isJudged: true,
      request: (seed, stored) => form('getlead', { ...lead(seed), PhoneNumber: makeRecord(spread(seed, stored)).PhoneNumber }),
    },
    {
      name: 'getlead, known by e-mail',
      isJudged: true,
      request: (seed, stored) => form('getlead', { ...lead(seed), Email: makeRecord(spread(seed, stored)).Email }),
    },
    {
      name: 'web2table, contact known',
      isJudged: false,
      request: (seed, stored) =>
        form('web2table', {
          table: 'Cases',
          phone: makeRecord(spread(seed, stored)).PhoneNumber,
          table_Name: `Case ${seed}`,
        }),
    },
    {
      name: 'web2table, contact new',
      isJudged: false,
      request: (seed) =>
        form('web2table', {
          table: 'Cases',
          phone: lead(seed).PhoneNumber,
          account_Name: `Customer ${seed}`,
          table_Name: `Case ${seed}`,
        }),
    },
  ];
};

/** Compares forms with plain creates of the same fields, alternately, with this many accounts stored; on either engine. */
export async function forms(context: BenchContext): Promise<void> {
  const { scratch } = context;
  await measure(context, 'embedded', await scratch.service(await scratch.directory()));
  const server = await testServer({ fsync: 'on', full_page_writes: 'on', wal_level: 'replica', max_wal_senders: 10 });
  scratch.keep(server);
  const database = await server.database();
  const service = await scratch.service(await scratch.directory(), database);
  await measure(context, 'PostgreSQL', service, () => server.query('VACUUM ANALYZE', database));
}

async function measure(
  { records = 1_000_000, seconds, rounds, scratch }: BenchContext,
  engine: string,
  service: Service,
  settle: () => Promise<unknown> = async () => {},
): Promise<void> {
  const target = serviceTarget(service);
  const Config = { Name: 'AcceptWebToTable', Value: { AcceptWebToTable: true } };
  await send(target, { method: 'POST', path: '/platform/classes/Config', body: Config });
  await fill(target, records, 1000, accounts);
  await settle();
  const open: Target = { ...target, headers: {} };
  const kinds = kindsOf(service);
  const load = new LoadClient(scratch);
  const results = new Map<Kind, { perSecond: number; p99: number }[]>();
  let seed = 10_000_000;
  for (let round = 1; round <= rounds; round++) {
    for (const kind of round % 2 === 1 ? kinds : kinds.toReversed()) {
      const requests = Array.from({ length: perRound }, () => kind.request(seed++, records));
      const result = await load.run(kind === kinds[0] ? target : open, requests, { connections, seconds, warmup: 0.5 });
      results.set(kind, [...(results.get(kind) ?? []), result]);
    }
    note(`${engine}: round ${round} of ${rounds} done`);
  }
  const middle = (kind: Kind, name: 'perSecond' | 'p99') => median((results.get(kind) ?? []).map((result) => result[name]));
  const plain = middle(kinds[0] as Kind, 'perSecond');
  const rows = kinds.map((kind) => {
    const rate = middle(kind, 'perSecond');
    const judged = kind.isJudged ? [`≥ ${ratio(MIN_RATE_SHARE)}`, verdict(rate / plain >= MIN_RATE_SHARE)] : ['–', ''];
    return [kind.name, count(rate), ratio(rate / plain), ...judged, milliseconds(middle(kind, 'p99'))];
  });
  const heading = `forms, ${engine}: ${count(records)} accounts, ${connections} connections, medians of ${rounds} × ${seconds} s`;
  printTable(heading, ['', 'req/s', 'of a create', 'target', '', 'p99'], rows);
}
