import { setTimeout as wait } from 'node:timers/promises';
import { testServer } from '../../src/storage/postgres/testing/server.ts';
import type { Service } from '../../test/support/service.ts';
import type { BenchContext } from '../support/context.ts';
import { fill, serviceTarget } from '../support/fill.ts';
import { LoadClient } from '../support/load-client.ts';
import { makeRecord } from '../support/records.ts';
import { count, median, milliseconds, note, printTable, ratio, verdict } from '../support/report.ts';
import { type Prepared, send, type Target } from '../support/target.ts';
import { connections } from './operations.ts';

/** Minimum share of a plain create's rate for a create on a timeline table with one active trigger. */
const MIN_RATE_SHARE = 0.5;
/** Load that the queue should sustain, in writes per second; its duration, and the time within which the queue should then be empty, in seconds. */
const steady = { rate: 1_000, seconds: 20, within: 5 };
const perRound = 40_000;
const path = '/platform/classes/Accounts';

/** A create as sent by clients. */
export function account(seed: number, silence: object = {}): Prepared {
  const { Name, PhoneNumber, Email, City, Comment } = makeRecord(seed);
  return { method: 'POST', path, body: { Name, PhoneNumber, Email, City, Comment, ...silence } };
}

const silent = { dontRunPlatformTriggers: true, dontUpdatePlatformTimeline: true };

interface Kind {
  name: string;
  /** Whether the target applies. */
  isJudged: boolean;
  silence: object;
  /** `Name` of the trigger that is active during the measurement. */
  trigger?: string;
  /** Whether each write must be logged. */
  fires?: true;
}

/** The first is the baseline. */
export const kinds: readonly Kind[] = [
  { name: 'plain create', isJudged: false, silence: silent },
  { name: 'with its timeline row', isJudged: false, silence: {} },
  { name: 'and a trigger whose criteria do not hold', isJudged: true, silence: {}, trigger: 'nobody' },
  { name: 'and a notification', isJudged: true, silence: {}, trigger: 'notification', fires: true },
  { name: 'and a record made', isJudged: true, silence: {}, trigger: 'create-object', fires: true },
];

const notify = { type: 'notification', actionData: { user: 'benchuser1', content: 'New: {{Name}}' } };
const definitions = [
  { Name: 'nobody', criteria: { City: 'Nowhere' }, actions: [notify] },
  { Name: 'notification', actions: [notify] },
  {
    Name: 'create-object',
    actions: [
      {
        type: 'create-object',
        actionData: { table: 'Followups', fields: { Title: 'Call {{Name}}', AccountId: '{{objectId}}' } },
      },
    ],
  },
];

/** Creates on a table with its timeline on, with and without triggers, alternately; then a steady load; on either engine. */
export async function triggers(context: BenchContext): Promise<void> {
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
  await fill(target, records, 1000, { path, make: (seed) => account(seed, silent).body as Record<string, unknown> });
  await settle();
  const runs = await Triggers.define(target);
  const load = new LoadClient(scratch);
  const results = new Map<Kind, { perSecond: number; p99: number }[]>();
  const left = new Map<Kind, number[]>();
  let seed = 10_000_000;
  for (let round = 1; round <= rounds; round++) {
    for (const kind of round % 2 === 1 ? kinds : kinds.toReversed()) {
      await runs.activate(kind.trigger);
      const requests = Array.from({ length: perRound }, () => account(seed++, kind.silence));
      const result = await load.run(target, requests, { connections, seconds, warmup: 0.5 });
      results.set(kind, [...(results.get(kind) ?? []), result]);
      left.set(kind, [...(left.get(kind) ?? []), await runs.finished(kind.fires ? result.requests : 0)]);
    }
    note(`${engine}: round ${round} of ${rounds} done`);
  }
  const middle = (kind: Kind, name: 'perSecond' | 'p99') => median((results.get(kind) ?? []).map((result) => result[name]));
  const plain = middle(kinds[0] as Kind, 'perSecond');
  const rows = kinds.map((kind) => {
    const rate = middle(kind, 'perSecond');
    const judged = kind.isJudged ? [`≥ ${ratio(MIN_RATE_SHARE)}`, verdict(rate / plain >= MIN_RATE_SHARE)] : ['–', ''];
    const after = `${(median(left.get(kind) ?? []) / 1000).toFixed(1)} s`;
    return [kind.name, count(rate), ratio(rate / plain), ...judged, milliseconds(middle(kind, 'p99')), after];
  });
  const heading = `triggers, ${engine}: ${connections} connections, medians of ${rounds} × ${seconds} s`;
  printTable(heading, ['', 'req/s', 'of a create', 'target', '', 'p99', 'queue empty after'], rows);
  await keepUp(engine, target, runs, load);
}

/** A steady load with a trigger that creates a record per write. */
async function keepUp(engine: string, target: Target, runs: Triggers, load: LoadClient): Promise<void> {
  await runs.activate('create-object');
  const { rate, seconds, within } = steady;
  const requests = Array.from({ length: rate * (seconds + 2) }, (_, n) => account(50_000_000 + n));
  const { perSecond, p99 } = await load.run(target, requests, { connections, seconds, warmup: 1, rate });
  const after = (await runs.finished(rate * seconds)) / 1000;
  const row = [
    'a record made for each',
    count(perSecond),
    milliseconds(p99),
    `${after.toFixed(1)} s`,
    `≤ ${within} s`,
    verdict(after <= within),
  ];
  printTable(
    `triggers, ${engine}: ${count(rate)} writes/s for ${seconds} s`,
    ['', 'req/s', 'p99', 'queue empty after', 'target', ''],
    [row],
  );
}

/** The triggers of the service, of which at most one is active. */
export class Triggers {
  readonly #target: Target;
  readonly #ids: ReadonlyMap<string, string>;
  /** Number of log rows at the last check. */
  #logged = 0;

  private constructor(target: Target, ids: ReadonlyMap<string, string>) {
    this.#target = target;
    this.#ids = ids;
  }

  static async define(target: Target): Promise<Triggers> {
    const ids = new Map<string, string>();
    for (const definition of definitions) {
      const body = { table: 'Accounts', events: ['create'], Active: false, ...definition };
      if (definition.Name === 'create-object')
        await send(target, { method: 'POST', path: '/platform/classes/Followups', body: { Title: 'first' } });
      ids.set(definition.Name, (await send(target, { method: 'POST', path: '/platform/classes/_Trigger', body })).objectId);
    }
    return new Triggers(target, ids);
  }

  async activate(wanted: string | undefined): Promise<void> {
    for (const [name, id] of this.#ids)
      await send(this.#target, { method: 'PUT', path: `/platform/classes/_Trigger/${id}`, body: { Active: name === wanted } });
  }

  /**
   * Waits until no more runs are logged.
   * @param writes minimum number of writes that have fired since the last call; each leaves two rows
   * @returns milliseconds until the last run
   * @throws Error if fewer are logged, i.e. the queue was not completed
   */
  async finished(writes: number): Promise<number> {
    const began = performance.now();
    let logged = -1;
    let last = began;
    while (performance.now() - last < 1_000) {
      const askedAt = performance.now();
      const { count: now } = await send(this.#target, {
        method: 'GET',
        path: '/platform/classes/_syslogTriggers?limit=0&count=1',
      });
      if (now !== logged) last = askedAt;
      logged = now;
      await wait(100);
    }
    // At a steady rate some requests are never sent.
    if (logged - this.#logged < 2 * writes * 0.9) throw new Error(`${logged - this.#logged} rows logged for ${writes} writes`);
    this.#logged = logged;
    return last - began;
  }
}
