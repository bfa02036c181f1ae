import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { testServer } from '../../src/storage/postgres/testing/server.ts';
import { Visitor } from '../../test/support/console.ts';
import type { ServiceProcess } from '../../test/support/service-process.ts';
import { makeAccounts } from '../support/accounts.ts';
import type { BenchContext } from '../support/context.ts';
import { serviceTarget } from '../support/fill.ts';
import { Desk } from '../support/grid-meter.ts';
import { LoadClient, type LoadResult } from '../support/load-client.ts';
import { spread } from '../support/records.ts';
import { count, median, megabytes, milliseconds, note, printTable, ratio, verdict } from '../support/report.ts';
import type { Prepared } from '../support/target.ts';

const COLD_MS = 1_500;
const WARM_MS = 500;
const JUMP_MS = 1_000;
const EMPTY_MS = 200;
const HEAP_BYTES = 200e6;
const MAX_ELEMENTS = 2_500;
/** Maximum factor for the p99 of other requests. */
const MAX_P99_FACTOR = 2;
/** Time limit for the exact count ("some seconds"). */
const COUNT_MS = 5_000;
const STOP_MS = 1_000;

const JUMPS = 50;
const JUMPS_BEFORE_HEAP = 300;
const WHEEL_SECONDS = 10;
/** Wheel delta, 30 times a second: 200 rows a second, the fastest that users scroll. */
const WHEEL_PIXELS = 240;
/** Load of other clients. */
const READS = { connections: 4, rate: 200, warmup: 0.5 };
/** Delay between two jumps of a busy user. */
const JUMP_INTERVAL_MS = 400;

/** An engine filled with records. */
interface FilledEngine {
  readonly engine: string;
  readonly records: number;
  readonly username: string;
  start(): Promise<ServiceProcess>;
  /** Returns the number of statements that the engine executes for other clients now. */
  running(service: ServiceProcess): Promise<number>;
}

/** The console's grid over a million accounts in a browser, and its effect on other clients; on either engine. */
export async function consoleGrid(context: BenchContext): Promise<void> {
  const { scratch, records = 1_000_000 } = context;
  const dataDir = await scratch.directory();
  const { username } = await makeAccounts(scratch, dataDir, undefined, records);
  await measure(context, { engine: 'embedded', records, username, start: () => scratch.service(dataDir), running: busyThreads });
  const server = await testServer({ fsync: 'on', full_page_writes: 'on', wal_level: 'replica', max_wal_senders: 10 });
  scratch.keep(server);
  const [database, otherDir] = [await server.database(), await scratch.directory()];
  const user = await makeAccounts(scratch, otherDir, database, records);
  await server.query('VACUUM ANALYZE', database);
  await measure(context, {
    engine: 'PostgreSQL',
    records,
    username: user.username,
    start: () => scratch.service(otherDir, database),
    running: () => activeStatements((sql) => server.query(sql)),
  });
}

type Row = readonly [name: string, measured: string, target: string, verdict: string];

const judged = (name: string, ms: number, maxMs: number): Row => [
  name,
  milliseconds(ms),
  `≤ ${milliseconds(maxMs)}`,
  verdict(ms <= maxMs),
];

/** Measures one engine: opening, jumps, the wheel, a sort without an index; then the effect on other clients. */
async function measure(context: BenchContext, place: FilledEngine): Promise<void> {
  const browser = await Desk.launch(context.scratch);
  const rows: Row[] = [...(await firstRows(context, place, browser))];
  const service = await place.start();
  const desk = await Desk.open(browser, service, place.username);
  const address = (query = '') => `/console/${service.appId}/Accounts${query}`;
  for (const [name, query] of [
    ['newest first', ''],
    ['by name (index)', '?order=Name'],
    ['by city (index, 10 values)', '?order=City'],
  ] as const) {
    await desk.show(address(query));
    rows.push(...(await jumps(desk, name)));
  }
  rows.push(await ends(desk, service, address(), place));
  rows.push(...(await wheel(desk)));
  for (let at = JUMPS; at < JUMPS_BEFORE_HEAP; at++) await desk.jump(placeOf(at));
  note(`${place.engine}: ${JUMPS_BEFORE_HEAP} jumps done`);
  const heap = await desk.heapBytes();
  rows.push([`heap after ${JUMPS_BEFORE_HEAP} jumps`, megabytes(heap), `< ${megabytes(HEAP_BYTES)}`, verdict(heap < HEAP_BYTES)]);
  const elements = await desk.grid.elementCount();
  rows.push(['elements of the page', count(elements), `< ${count(MAX_ELEMENTS)}`, verdict(elements < MAX_ELEMENTS)]);
  rows.push(...(await stopping(desk, service, address('?order=Address'), place)));
  const { requestedKeys } = desk;
  await desk.close();
  await browser.close();
  rows.push(...(await beside(context, service, place, requestedKeys)));
  await service.stop();
  printTable(
    `console, ${place.engine}: ${count(place.records)} accounts`,
    ['', 'measured', 'target', ''],
    rows.map((row) => [...row]),
  );
}

/** First rows with a fresh service and an empty browser cache; then with both warm. */
async function firstRows({ rounds }: BenchContext, place: FilledEngine, browser: Browser): Promise<Row[]> {
  const [cold, warm, counts]: number[][] = [[], [], []];
  for (let round = 1; round <= rounds; round++) {
    const service = await place.start();
    await ready(service);
    const desk = await Desk.open(browser, service, place.username);
    const first = await desk.show(`/console/${service.appId}/Accounts`);
    const second = await desk.show(`/console/${service.appId}/Accounts`);
    cold?.push(first.rowsMs);
    warm?.push(second.rowsMs);
    counts?.push(first.countMs);
    await desk.close();
    await service.stop();
    note(`${place.engine}: first rows, round ${round} of ${rounds} done`);
  }
  return [
    judged('first rows, cold', median(cold ?? []), COLD_MS),
    judged('first rows, warm', median(warm ?? []), WARM_MS),
    judged('exact count, cold', median(counts ?? []), COUNT_MS),
  ];
}

/** Waits until the console has been built. */
async function ready(service: ServiceProcess): Promise<void> {
  while (!(await (await fetch(`${service.url}/console/sign-in`)).text()).includes('<script type="module"')) await wait(500);
}

/** Returns a scroll position, different from the previous one. */
const placeOf = (at: number): number => (spread(at, 900) + 50) / 1_000;

async function jumps(desk: Desk, name: string): Promise<Row[]> {
  const times: number[] = [];
  for (let at = 0; at < JUMPS; at++) times.push(await desk.jump(placeOf(at)));
  note(`jumps, ${name}: ${times.slice(0, 5).map(Math.round).join(', ')} … ms`);
  return [
    judged(`jump, ${name}: first`, times[0] ?? 0, JUMP_MS),
    judged(`jump, ${name}: median of ${JUMPS}`, median(times), JUMP_MS),
    judged(`jump, ${name}: worst`, Math.max(...times), JUMP_MS),
  ];
}

/** Jumps to the last row and pages up some blocks; each row must match the API. */
async function ends(desk: Desk, service: ServiceProcess, address: string, { records }: FilledEngine): Promise<Row> {
  await desk.show(address);
  await desk.grid.enter();
  await desk.page.keyboard.press('Control+End');
  const seen = new Map<number, string | null>();
  for (let presses = 0; presses < 30; presses++) {
    for (const { index, objectId } of await desk.grid.settled()) seen.set(index, objectId);
    await desk.page.keyboard.press('PageUp');
  }
  const query = { order: 'createdAt,objectId', keys: 'Name', limit: 1_000 };
  const { body } = await service.call('GET', '/platform/classes/Accounts', { query });
  const wrong = [...seen].filter(([index, objectId]) => body.results[records - 1 - index]?.objectId !== objectId);
  const isRight = wrong.length === 0 && seen.has(records - 1);
  return [
    'last rows by PgUp, each where the API has it',
    `${count(seen.size)} rows, ${wrong.length} wrong`,
    '0 wrong',
    verdict(isRight),
  ];
}

async function wheel(desk: Desk): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, part] of [
    ['top', 0],
    ['middle', 0.5],
  ] as const) {
    if (part > 0) await desk.jump(part);
    else await desk.grid.scrollTo(0);
    await desk.grid.settled();
    const turned = await desk.wheel(WHEEL_SECONDS, WHEEL_PIXELS);
    rows.push(
      judged(
        `wheel from the ${name}, ${count(turned.rows / WHEEL_SECONDS)} rows/s: longest without a record`,
        turned.emptyMs,
        EMPTY_MS,
      ),
    );
  }
  return rows;
}

/** A sort without an index: time until the warning, and from the stop until the database has ended the statement. */
async function stopping(desk: Desk, service: ServiceProcess, address: string, place: FilledEngine): Promise<Row[]> {
  const { page } = desk;
  const started = performance.now();
  await page.goto(address, { waitUntil: 'commit' });
  const warning = page.getByRole('status').filter({ hasText: 'no index' });
  const seen = await warning.waitFor({ timeout: 10_000 }).then(
    () => true,
    () => false,
  );
  const warnedMs = performance.now() - started;
  const stop = page.getByRole('button', { name: 'Stop', exact: true });
  if (!seen || !(await stop.isVisible()))
    return [['sort without an index', seen ? 'ended before it was stopped' : 'no warning', 'a warning', verdict(seen)]];
  const wasRunning = await place.running(service);
  await stop.click();
  const stopped = performance.now();
  while ((await place.running(service)) > 0 && performance.now() - stopped < 10_000) await wait(20);
  const endedMs = performance.now() - stopped;
  note(`${place.engine}: ${wasRunning} statements ran before the stop`);
  return [
    judged('sort without an index: warned after', warnedMs, COUNT_MS),
    judged('sort without an index: statement ended after stop', endedMs, STOP_MS),
  ];
}

/** Point reads of another client, alternately with and without a user who jumps and reads. */
async function beside(
  { rounds, seconds, scratch }: BenchContext,
  service: ServiceProcess,
  { username, records }: FilledEngine,
  keys: string,
): Promise<Row[]> {
  const target = serviceTarget(service);
  const { body } = await service.call('GET', '/platform/classes/Accounts', { query: { keys: 'Name', limit: 1_000 } });
  const reads = body.results.map(
    ({ objectId }: { objectId: string }): Prepared => ({ method: 'GET', path: `/platform/classes/Accounts/${objectId}` }),
  );
  const load = new LoadClient(scratch);
  const options = { ...READS, seconds: Math.max(seconds, 5) };
  const visitor = new Visitor(service);
  await visitor.signIn(username);
  await load.run(target, reads, options);
  const [quiet, beset]: LoadResult[][] = [[], []];
  for (let round = 1; round <= rounds; round++) {
    quiet?.push(await load.run(target, reads, options));
    const jumper = jumpUntilStopped(visitor, records, keys);
    beset?.push(await load.run(target, reads, options));
    await jumper.stop();
  }
  const p99 = (results: LoadResult[] = []) => median(results.map((result) => result.p99));
  const times = p99(beset) / p99(quiet);
  return [
    ['point reads of others, quiet: p99', milliseconds(p99(quiet)), '–', ''],
    ['the same while somebody jumps: p99', milliseconds(p99(beset)), '–', ''],
    ['ratio', ratio(times), `< ${ratio(MAX_P99_FACTOR)}`, verdict(times < MAX_P99_FACTOR)],
  ];
}

/** Sends the requests of a grid: first rows and count, then jumps with the following blocks. */
function jumpUntilStopped(visitor: Visitor, records: number, keys: string): { stop(): Promise<void> } {
  let goesOn = true;
  const ask = async (path: string) => {
    const answer = await visitor.api('GET', path);
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status} ${answer.text.slice(0, 300)}`);
    return answer.body;
  };
  const running = (async () => {
    for (let at = 0; goesOn; at++) {
      const order = ['-createdAt', 'Name', 'City'][at % 3];
      if (at % 10 === 0) await ask('count/Accounts');
      let place = `skip=${spread(at, records / 100) * 100}`;
      for (let block = 0; block < 3 && goesOn; block++) {
        const { last } = await ask(`rows/Accounts?order=${order}&limit=100&keys=${keys}&${place}`);
        if (last === null) break;
        place = `after=${last}`;
      }
      await wait(JUMP_INTERVAL_MS);
    }
  })();
  return {
    async stop() {
      goesOn = false;
      await running;
    },
  };
}

/** For the embedded engine: 1 while a reader thread uses the CPU. The event loop is excluded, since it may have maintenance work. */
async function busyThreads({ process: { pid } }: ServiceProcess): Promise<number> {
  const threads = readdirSync(`/proc/${pid}/task`).filter((thread) => Number(thread) !== pid);
  const before = threads.map((thread) => ticksOf(pid, thread));
  await wait(200);
  return threads.some((thread, at) => ticksOf(pid, thread) - (before[at] ?? 0) > 6) ? 1 : 0;
}

/** Returns the processor time of a thread, in hundredths of a second. */
function ticksOf(pid: number | undefined, thread: string): number {
  const fields = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

async function activeStatements(query: (sql: string) => Promise<unknown[]>): Promise<number> {
  const rows = await query(
    `SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND query LIKE '%Address%'`,
  );
  return rows.length;
}
