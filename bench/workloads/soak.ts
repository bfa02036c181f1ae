import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { testServer } from '../../src/storage/postgres/testing/server.ts';
import { engines } from '../../test/support/service.ts';
import type { ServiceProcess } from '../../test/support/service-process.ts';
import type { BenchContext } from '../support/context.ts';
import { serviceTarget } from '../support/fill.ts';
import { collecting, type Health, healthOf } from '../support/health.ts';
import { makeRecord, spread } from '../support/records.ts';
import { count, median, megabytes, note, printTable } from '../support/report.ts';
import { type Prepared, send, type Target } from '../support/target.ts';

/** Number of clients, and their total requests per second: a part of what a machine can handle. */
const [CLIENTS, RATE] = [8, 60];
/** Total number of samples. */
const SAMPLES = 120;
const path = '/platform/classes/Accounts';

/** A sampled figure: its format, and the increase that still counts as flat. */
interface Figure {
  name: string;
  of: keyof Health | 'backends';
  show: (value: number) => string;
  share: number;
  more: number;
}

const MB = 1e6;
const figures: readonly Figure[] = [
  { name: 'live heap', of: 'heap', show: megabytes, share: 0.05, more: 3 * MB },
  { name: 'buffers', of: 'buffers', show: megabytes, share: 0.1, more: 3 * MB },
  { name: 'resident memory', of: 'resident', show: megabytes, share: 0.1, more: 20 * MB },
  { name: 'descriptors', of: 'descriptors', show: count, share: 0, more: 8 },
  { name: 'sockets', of: 'sockets', show: count, share: 0, more: 4 },
  { name: 'log of changes', of: 'wal', show: megabytes, share: 0.25, more: 4 * MB },
  { name: 'database connections', of: 'backends', show: count, share: 0, more: 2 },
];

type Sample = Partial<Record<Figure['of'], number>>;

/** A moderate, steady load for a long time, to detect growing use of resources; on either engine (TEST_ENGINES, as in tests). */
export async function soak({ seconds, scratch }: BenchContext): Promise<void> {
  if (engines.includes('sqlite')) await hold('embedded', seconds, await start(await scratch.directory()));
  if (!engines.includes('postgres')) return;
  const server = await testServer({ fsync: 'on', full_page_writes: 'on', max_connections: 100 });
  scratch.keep(server);
  const database = await server.database();
  const backends = async () => {
    const sql = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = '${new URL(database.url).pathname.slice(1)}'`;
    const [row] = (await server.query(sql)) as { n: number }[];
    return row?.n ?? 0;
  };
  await hold('PostgreSQL', seconds, await start(await scratch.directory(), database), backends);

  async function start(dataDir: string, on?: { url: string }): Promise<[ServiceProcess, heap: string]> {
    const heap = join(await scratch.directory(), 'heap.json');
    return [await scratch.service(dataDir, on, undefined, collecting(heap)), heap];
  }
}

async function hold(
  engine: string,
  seconds: number,
  [service, heap]: [ServiceProcess, string],
  backends?: () => Promise<number>,
): Promise<void> {
  const target = serviceTarget(service);
  const table = { className: 'Followups', fields: { Title: { type: 'String' } } };
  await service.call('POST', '/platform/schemas/Followups', { body: table });
  const actions = [{ type: 'create-object', actionData: { table: 'Followups', fields: { Title: 'Call {{Name}}' } } }];
  const trigger = { Name: 'soak', table: 'Accounts', events: ['create'], actions };
  const { status, text } = await service.call('POST', '/platform/classes/_Trigger', { body: trigger });
  if (status !== 201) throw new Error(`the trigger was refused: ${text}`);

  const until = performance.now() + seconds * 1_000;
  const load = new Load(target, until);
  const samples: Sample[] = [];
  const every = (seconds * 1_000) / SAMPLES;
  for (let due = performance.now() + every; due < until; due += every) {
    await wait(Math.max(0, due - performance.now()));
    samples.push({ ...(await healthOf(service, heap)), ...(backends && { backends: await backends() }) });
    if (samples.length % 10 === 0) note(`${engine}: ${samples.length} of ${SAMPLES} looks, ${count(load.sent)} requests`);
  }
  await load.end();
  report(engine, seconds, samples, load);
  const code = await service.stop();
  if (code !== 0) throw new Error(`the service ended with ${code}`);
}

function report(engine: string, seconds: number, samples: readonly Sample[], { sent, failed }: Load): void {
  const quarter = Math.floor(samples.length / 4);
  const rows = figures.flatMap(({ name, of, show, share, more }) => {
    const values = samples.flatMap((sample) => sample[of] ?? []);
    if (values.every((value) => value === 0)) return [];
    const [second, last] = [median(values.slice(quarter, 2 * quarter)), median(values.slice(-quarter))];
    const isFlat = last <= second * (1 + share) + more;
    const most = `${show(second * (1 + share) + more)}`;
    return [[name, show(second), show(last), show(Math.max(...values)), `≤ ${most}`, isFlat ? 'flat' : 'GROWS']];
  });
  const heading = `soak, ${engine}: ${count(sent)} requests in ${count(seconds / 60)} min, ${failed} failed; medians of quarters`;
  printTable(heading, ['', 'second', 'last', 'most', 'flat if', ''], rows);
}

/** Clients that create, update, read, search, count and log in, at a steady rate. */
class Load {
  sent = 0;
  failed = 0;
  readonly #target: Target;
  readonly #ids: string[] = [];
  readonly #all: Promise<unknown>;

  constructor(target: Target, until: number) {
    this.#target = target;
    this.#all = Promise.all(Array.from({ length: CLIENTS }, (_, n) => this.#client(n, until)));
  }

  end(): Promise<unknown> {
    return this.#all;
  }

  async #client(number: number, until: number): Promise<void> {
    const every = (CLIENTS / RATE) * 1_000;
    let due = performance.now() + number * 20;
    for (let turn = 0; due < until; turn++, due += every) {
      await wait(Math.max(0, due - performance.now()));
      this.sent++;
      try {
        const answer = await send(this.#target, this.#request(number * 100_000_000 + turn));
        if (answer?.objectId !== undefined && answer.createdAt !== undefined && answer.Name === undefined)
          this.#keep(answer.objectId);
      } catch (error) {
        if (this.failed++ < 5) note(`a request failed: ${error instanceof Error ? error.message : error}`);
      }
    }
  }

  #keep(id: string): void {
    if (this.#ids.length < 10_000) this.#ids.push(id);
    else this.#ids[this.sent % this.#ids.length] = id;
  }

  #request(seed: number): Prepared {
    const { Name, PhoneNumber, Email, City, Comment } = makeRecord(seed);
    const id = this.#ids[spread(seed, Math.max(1, this.#ids.length))];
    const kind = seed % 10;
    if (kind < 4 || id === undefined) return { method: 'POST', path, body: { Name, PhoneNumber, Email, City, Comment } };
    if (kind < 6) return { method: 'PUT', path: `${path}/${id}`, body: { Comment, City } };
    if (kind < 8) return { method: 'GET', path: `${path}/${id}` };
    if (kind === 8) {
      const where = encodeURIComponent(JSON.stringify({ City }));
      return { method: 'GET', path: `${path}?where=${where}&limit=50&count=1&order=-createdAt` };
    }
    const body = { Name, PhoneNumber, Email };
    const requests = Array.from({ length: 5 }, () => ({ method: 'POST', path, body }));
    return { method: 'POST', path: '/platform/batch', body: { requests } };
  }
}
