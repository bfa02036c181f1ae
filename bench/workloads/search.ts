import { setTimeout as wait } from 'node:timers/promises';
import { testServer } from '../../src/storage/postgres/testing/server.ts';
import type { Service } from '../../test/support/service.ts';
import type { BenchContext } from '../support/context.ts';
import { fill, serviceTarget } from '../support/fill.ts';
import { LoadClient } from '../support/load-client.ts';
import { makeRecord, spread } from '../support/records.ts';
import { count, median, milliseconds, note, printTable, ratio, verdict } from '../support/report.ts';
import { type Prepared, send } from '../support/target.ts';
import { askTool } from './mcp.ts';
import { connections } from './operations.ts';

/** Maximum median latency of a search without other load, in milliseconds. */
const MAX_MS = 300;
/** Minimum share of the rate of creates that a table keeps with a search index. */
const MIN_RATE_SHARE = 0.9;
/** Below the size from which a table has an index, and large enough that the second of two concurrent batches is not among the newest 5,000. */
const FEW = 4_000;
const MANY = 8_000;
/** At least as many as a client sends during a round. */
const CREATES = 20_000;

const firstNames = ['משה', 'דנה', 'יוסי', 'Lea', 'אבי', 'רחל', 'David', 'שרה', 'יעקב', 'מרים'];
const lastNames = ['כהן', 'לוי', 'מזרחי', 'פרץ', 'Cohen', 'ביטון', 'דהן', 'אברהם', 'פרידמן', 'Smith'];
const syllables = [
  'בר',
  'גל',
  'דן',
  'הר',
  'ון',
  'זיו',
  'חן',
  'טל',
  'יש',
  'כר',
  'לב',
  'מר',
  'נר',
  'סף',
  'עד',
  'פז',
  'צור',
  'קד',
  'רם',
  'שיר',
];

/** A rare name. */
const rareName = (seed: number): string => [1, 20, 400, 8_000].map((step) => syllables[Math.floor(seed / step) % 20]).join('');

/** One in seven has a rare last name; one in five is a company. */
function account(seed: number): Record<string, unknown> {
  const { PhoneNumber, Email, City } = makeRecord(seed);
  const last = seed % 7 === 0 ? rareName(seed) : lastNames[spread(seed, 10)];
  const Name = `${firstNames[seed % 10]} ${last}${seed % 5 === 0 ? ' בע"מ' : ''}`;
  const phone = String(PhoneNumber).replace(/^(\d{3})(\d{3})/, '$1-$2-');
  const dontUpdatePlatformTimeline = true;
  return { Name, PhoneNumber: phone, Email, City, CompanyId: String(510_000_000 + seed), dontUpdatePlatformTimeline };
}

const others = ['Contacts', 'Sales', 'Cases', 'Tasks', 'Products', 'Activities', 'Projects', 'Suppliers'];

/** Queries by kind, for a table of this many records. */
function queriesOf(records: number): readonly (readonly [string, string])[] {
  const { PhoneNumber, Email, CompanyId } = account(spread(5, records));
  const digits = String(PhoneNumber).replaceAll('-', '');
  return [
    ['a frequent word', 'כהן'],
    ['a word that a fifth has', 'בע"מ'],
    ['a rare word', rareName(7 * 777)],
    ['the beginning of a rare word', rareName(7 * 777).slice(0, 6)],
    ['an absent word', 'קקקזזז'],
    ['an absent English word', 'zzzqq'],
    ['two frequent words', 'משה כהן'],
    ['a frequent and a rare word', `משה ${rareName(70)}`],
    ['one letter', 'מ'],
    ['two letters', 'מש'],
    ['a phone as it is written', String(PhoneNumber)],
    ['a phone, +972', `+972${digits.slice(1)}`],
    ['a phone that is being typed', digits.slice(0, 8)],
    ['an e-mail address', String(Email)],
    ['a number', String(CompanyId)],
    ['a part of a word', 'זרח'],
  ];
}

/** Searches over a large table and the others that agents search, and creates with and without a search index, alternately; on either engine. */
export async function search(context: BenchContext): Promise<void> {
  const { scratch } = context;
  const embedded = async () => scratch.service(await scratch.directory());
  await measureSearches(context, 'embedded', await embedded());
  await measureCreates(context, 'embedded', embedded);
  const server = await testServer({ fsync: 'on', full_page_writes: 'on', wal_level: 'replica', max_wal_senders: 10 });
  scratch.keep(server);
  const shared = async () => {
    const database = await server.database();
    return { database, service: await scratch.service(await scratch.directory(), database) };
  };
  const { database, service } = await shared();
  await measureSearches(context, 'PostgreSQL', service, () => server.query('VACUUM ANALYZE', database));
  await measureCreates(context, 'PostgreSQL', async () => (await shared()).service);
}

async function measureSearches(
  { records = 1_000_000, seconds, rounds, scratch }: BenchContext,
  engine: string,
  service: Service,
  settle: () => Promise<unknown> = async () => {},
): Promise<void> {
  await addAccounts(service, records);
  for (const table of others)
    await fill(serviceTarget(service), 500, 500, {
      path: `/platform/classes/${table}`,
      make: (seed) => ({ Name: account(seed).Name }),
    });
  await settle();
  note(`${engine}: the index came to be in ${milliseconds(await indexed(service))}, the first search included`);
  const load = new LoadClient(scratch);
  const rows: string[][] = [];
  for (const [name, query] of queriesOf(records)) {
    const { target, request } = askSearch(service, query);
    const times: { p50: number; p99: number }[] = [];
    for (let round = 0; round < rounds; round++)
      times.push(await load.run(target, [request], { connections: 1, seconds: Math.min(seconds, 1), warmup: 0.2 }));
    const [p50, p99] = [median(times.map((time) => time.p50)), median(times.map((time) => time.p99))];
    rows.push([name, milliseconds(p50), milliseconds(p99), `< ${MAX_MS} ms`, verdict(p50 < MAX_MS)]);
  }
  printTable(`search, ${engine}: ${count(records)} accounts, medians of ${rounds}`, ['', 'p50', 'p99', 'target', ''], rows);
}

const addAccounts = (service: Service, many: number) =>
  fill(serviceTarget(service), many, 1000, { path: '/platform/classes/Accounts', make: account });

async function measureCreates(
  { seconds, rounds, scratch }: BenchContext,
  engine: string,
  make: () => Promise<Service>,
): Promise<void> {
  const services = { plain: await make(), indexed: await make() };
  await addAccounts(services.plain, FEW);
  await addAccounts(services.indexed, MANY);
  await indexed(services.indexed);
  const load = new LoadClient(scratch);
  const rates: Record<keyof typeof services, number[]> = { plain: [], indexed: [] };
  let seed = 10_000_000;
  for (let round = 1; round <= rounds; round++)
    for (const kind of round % 2 === 1 ? (['plain', 'indexed'] as const) : (['indexed', 'plain'] as const)) {
      const requests = Array.from(
        { length: CREATES },
        (): Prepared => ({ method: 'POST', path: '/platform/classes/Accounts', body: account(seed++) }),
      );
      rates[kind].push(
        (await load.run(serviceTarget(services[kind]), requests, { connections, seconds, warmup: 0.5 })).perSecond,
      );
    }
  const [plain, kept] = [median(rates.plain), median(rates.indexed)];
  const heading = `creates, ${engine}: ${connections} connections, medians of ${rounds} × ${seconds} s`;
  printTable(
    heading,
    ['', 'req/s', 'of plain', 'target', ''],
    [
      ['a table without a search index', count(plain), '', '–', ''],
      [
        'a table with one',
        count(kept),
        ratio(kept / plain),
        `≥ ${ratio(MIN_RATE_SHARE)}`,
        verdict(kept / plain >= MIN_RATE_SHARE),
      ],
    ],
  );
}

const askSearch = (service: Service, query: string) =>
  askTool(service, '2025-06-18', 'tools/call', { name: 'Search-Records', arguments: { query } });

/** Repeats searches, which build the index, until part of a word is no longer found in an old record. @returns milliseconds */
async function indexed(service: Service): Promise<number> {
  const started = performance.now();
  const { target, request } = askSearch(service, String(account(1).Email).slice(1));
  for (;;) {
    const { result } = await send(target, request);
    if (!result.isError && JSON.parse(result.content[0].text).results.length === 0) return performance.now() - started;
    await wait(200);
  }
}
