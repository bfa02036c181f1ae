import { join } from 'node:path';
import { testServer } from '../../src/storage/postgres/testing/server.ts';
import type { ServiceProcess } from '../../test/support/service-process.ts';
import type { BenchContext } from '../support/context.ts';
import { cpuSecondsOf } from '../support/cpu.ts';
import { declareTable, fill, serviceTarget } from '../support/fill.ts';
import { LoadClient } from '../support/load-client.ts';
import { table } from '../support/records.ts';
import { count, median, note, printTable, ratio, verdict } from '../support/report.ts';
import { type Prepared, send, type Target } from '../support/target.ts';
import { guard, reads, signUp, withRoles } from './access.ts';
import { kindsOf as formKindsOf } from './forms.ts';
import { kindsOf as agentKindsOf } from './mcp.ts';
import { connections, operations } from './operations.ts';
import { account, Triggers, kinds as triggerKinds } from './triggers.ts';

/** Minimum speed that counts as no slower: with this few rounds, equal versions differ by some per cent. */
const MIN_SPEED = 0.93;
const perRound = 15_000;

/** A kind of request, sent to both versions. */
interface Kind {
  name: string;
  /** The trigger that is active during the measurement. */
  trigger?: string | undefined;
  fires?: boolean;
  target: Target;
  requests(): Prepared[];
}

/** Requests per second, and CPU seconds of the service per request. Other load on the machine affects the former more. */
interface Figure {
  rate: number;
  cpu: number;
}

interface Side {
  pid: number;
  kinds: Kind[];
  triggers: Triggers;
}

/** Compares this version with the one in another directory, alternately, on both engines. @throws Error without `--against` */
export async function versions(context: BenchContext): Promise<void> {
  const { scratch, against } = context;
  if (against === undefined) throw new Error('--against names the directory of the other version, with its packages installed');
  const programs = [undefined, join(against, 'src/main.ts')];
  await measure(context, 'embedded', (program) => start(context, program));
  const server = await testServer({ fsync: 'on', full_page_writes: 'on', wal_level: 'replica', max_wal_senders: 10 });
  scratch.keep(server);
  await measure(context, 'PostgreSQL', async (program) => start(context, program, await server.database()));

  async function measure(
    of: BenchContext,
    engine: string,
    open: (program: string | undefined) => Promise<ServiceProcess>,
  ): Promise<void> {
    const sides: Side[] = [];
    for (const program of programs) sides.push(await prepare(of, await open(program)));
    await compare(of, engine, sides as [Side, Side]);
  }
}

const start = async ({ scratch }: BenchContext, program?: string, database?: { url: string }): Promise<ServiceProcess> =>
  scratch.service(await scratch.directory(), database, program);

/** Fills a service with the data that all kinds of requests need. */
async function prepare({ records = 20_000 }: BenchContext, service: ServiceProcess): Promise<Side> {
  await declareTable(service);
  const own = serviceTarget(service);
  const ids = await fill(own, records);
  const accounts = { path: '/platform/classes/Accounts', make: (seed: number) => account(seed).body as Record<string, unknown> };
  await fill(own, records, 500, accounts);
  await guard(service, ids.slice(0, 1_000));
  const session = await withRoles(service, await signUp(service));
  const Config = { Name: 'AcceptWebToTable', Value: { AcceptWebToTable: true } };
  await send(own, { method: 'POST', path: '/platform/classes/Config', body: Config });
  let seed = 20_000_000;
  const many = (make: (seed: number) => Prepared) => () => Array.from({ length: perRound }, () => make(seed++));
  const kinds: Kind[] = [
    ...operations.map(({ name, requests }) => ({ name, target: own, requests: () => requests(ids) })),
    { name: 'read one, session, ACL', target: session, requests: () => reads(ids.slice(0, 1_000)) },
    ...triggerKinds.map(({ name, silence, trigger, fires = false }) => ({
      name: `Accounts: ${name}`,
      trigger,
      fires,
      target: own,
      requests: many((of) => account(of, silence)),
    })),
    ...formKindsOf(service)
      .slice(1)
      .map(({ name, request }) => ({ name, target: { ...own, headers: {} }, requests: many((of) => request(of, records)) })),
    ...agentKindsOf(service)
      .slice(1)
      .map(({ name, target, request }) => ({ name, target, requests: () => [request] })),
  ];
  return { pid: service.process.pid ?? 0, kinds, triggers: await Triggers.define(own) };
}

async function compare({ rounds, seconds, scratch, records }: BenchContext, engine: string, sides: [Side, Side]): Promise<void> {
  const load = new LoadClient(scratch);
  const figures = new Map<string, [Figure[], Figure[]]>();
  for (let round = 1; round <= rounds; round++) {
    for (const [at, { name }] of sides[0].kinds.entries()) {
      const measured = figures.get(name) ?? [[], []];
      figures.set(name, measured);
      for (const side of round % 2 === 1 ? ([0, 1] as const) : ([1, 0] as const)) {
        const { kinds, triggers, pid } = sides[side];
        const kind = kinds[at] as Kind;
        await triggers.activate(kind.trigger);
        const before = cpuSecondsOf(pid);
        const result = await load.run(kind.target, kind.requests(), { connections, seconds, warmup: 0.5 });
        measured[side].push({ rate: result.perSecond, cpu: (cpuSecondsOf(pid) - before) / result.answered });
        if (kind.fires) await triggers.finished(result.requests);
      }
    }
    note(`${engine}: round ${round} of ${rounds} done`);
  }
  const rows = [...figures].map(([name, [now, before]]) => {
    const of = (figure: keyof Figure) => [now, before].map((all) => median(all.map((each) => each[figure]))) as [number, number];
    const [[own, other], [ownCpu, otherCpu]] = [of('rate'), of('cpu')];
    const speed = own / other;
    return [
      name,
      count(own),
      count(other),
      ratio(speed),
      `≥ ${ratio(MIN_SPEED)}`,
      verdict(speed >= MIN_SPEED),
      ratio(ownCpu / otherCpu),
    ];
  });
  const heading = `versions, ${engine}: ${count(records ?? 20_000)} records of ${table} and of Accounts, medians of ${rounds} × ${seconds} s`;
  printTable(heading, ['', 'this req/s', 'other req/s', 'ratio', 'target', '', 'CPU a request'], rows);
}
