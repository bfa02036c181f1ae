import type { TestDatabase, TestServer } from '../../src/storage/postgres/testing/server.ts';
import type { ServiceProcess } from '../../test/support/service-process.ts';
import type { BenchContext } from '../support/context.ts';
import { cpuSecondsOf } from '../support/cpu.ts';
import { serviceTarget } from '../support/fill.ts';
import { LoadClient } from '../support/load-client.ts';
import { median, milliseconds, note, printTable, ratio, verdict } from '../support/report.ts';
import { type Prepared, send, type Target } from '../support/target.ts';

/** An engine under measurement. */
export interface Engine {
  readonly name: string;
  /** Of PostgreSQL. */
  readonly server?: TestServer;
}

/** Something of one size. */
export interface Subject {
  readonly name: string;
  readonly service: ServiceProcess;
  /** Where the service keeps its data, if that is PostgreSQL. */
  readonly database?: TestDatabase;
}

/** A kind of request. */
export interface Kind<Of extends Subject> {
  readonly name: string;
  /** Whether its cost should be the same for every size. */
  readonly isFlat: boolean;
  /** Returns requests of one round; what they need is made before. */
  requests(of: Of, round: number): Prepared[] | Promise<Prepared[]>;
  /** Whether requests cannot be repeated. */
  readonly isOnce?: boolean;
  /** Removes what the requests have made. */
  clean?(of: Of): Promise<unknown>;
}

/** Most that the largest may cost, as a multiple of the smallest, if both should cost the same. */
const FLAT = 1.5;

/** Median of one client alone, and processor time of service and database, both in milliseconds a request. */
interface Cost {
  readonly alone: number;
  readonly cpu: number;
}

/** Measures each kind of request on each subject in turn, in rounds, by one client alone, and prints a table. */
export async function measureGrowth<Of extends Subject>(
  heading: string,
  { rounds, seconds, scratch }: BenchContext,
  engine: Engine,
  subjects: readonly Of[],
  kinds: readonly Kind<Of>[],
): Promise<void> {
  const load = new LoadClient(scratch);
  const costs = new Map<string, Cost[]>();
  const keyOf = (kind: Kind<Of>, of: Of) => `${kind.name}/${of.name}`;
  for (let round = 1; round <= rounds; round++) {
    for (const kind of kinds)
      for (const of of round % 2 === 1 ? subjects : subjects.toReversed()) {
        const cost = await measure(load, engine, of, kind, round, seconds);
        costs.set(keyOf(kind, of), [...(costs.get(keyOf(kind, of)) ?? []), cost]);
        await kind.clean?.(of);
      }
    note(`${engine.name}: round ${round} of ${rounds} done`);
  }
  const rows = kinds.map((kind) => {
    const all = subjects.map((of) => costs.get(keyOf(kind, of)) ?? []);
    const alone = all.map((each) => median(each.map((cost) => cost.alone)));
    const cpu = all.map((each) => median(each.map((cost) => cost.cpu)));
    const growth = (cpu.at(-1) ?? 0) / (cpu[0] ?? 0);
    const judged = kind.isFlat ? [`≤ ${ratio(FLAT)}`, verdict(growth <= FLAT)] : ['–', ''];
    return [kind.name, ...alone.map(milliseconds), ...cpu.map(milliseconds), ratio(growth), ...judged];
  });
  const columns = ['alone', 'CPU'].flatMap((figure) => subjects.map(({ name }) => `${figure}, ${name}`));
  printTable(
    `${heading}, ${engine.name}: medians of ${rounds} × ${seconds} s`,
    ['', ...columns, 'CPU, largest / smallest', 'target', ''],
    rows,
  );
}

async function measure<Of extends Subject>(
  load: LoadClient,
  engine: Engine,
  of: Of,
  kind: Kind<Of>,
  round: number,
  seconds: number,
): Promise<Cost> {
  const target = serviceTarget(of.service);
  const requests = await kind.requests(of, round);
  if (!kind.isOnce) await send(target, requests[0] as Prepared);
  const pids = await pidsOf(engine, of);
  const before = pids.map(cpuSecondsOf);
  const isOnce = kind.isOnce ?? false;
  const {
    p50,
    requests: measured,
    answered,
  } = await load.run(target, requests, {
    connections: 1,
    seconds,
    warmup: isOnce ? 0 : seconds / 5,
    isOnce,
  });
  // Processes that have come or gone have hardly worked.
  const used = pids.map((pid, at) => cpuSecondsOf(pid) - (before[at] ?? 0)).filter((cpu) => !Number.isNaN(cpu));
  // A request of over a second may have no answer within the measured time.
  return {
    alone: measured > 0 ? p50 : (seconds * 1000) / answered,
    cpu: (used.reduce((sum, cpu) => sum + cpu, 0) * 1000) / answered,
  };
}

/** Returns the processes that work for a subject: the service, and the sessions of its database. */
async function pidsOf({ server }: Engine, { service, database }: Subject): Promise<number[]> {
  const own = service.process.pid ?? 0;
  if (!server || !database) return [own];
  const name = new URL(database.url).pathname.slice(1);
  const rows = await server.query(`SELECT pid FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`);
  return [own, ...(rows as { pid: number }[]).map(({ pid }) => pid)];
}

/** Creates records in batches. @returns paths of the records */
export async function createMany(target: Target, creates: readonly Prepared[]): Promise<string[]> {
  const perBatch = 500;
  const paths: string[] = [];
  for (let at = 0; at < creates.length; at += perBatch) {
    const requests = creates.slice(at, at + perBatch);
    const answers: { success?: { objectId: string } }[] = await send(target, {
      method: 'POST',
      path: '/platform/batch',
      body: { requests },
    });
    for (const [index, { success }] of answers.entries()) {
      if (!success) throw new Error(`a batch item was refused: ${JSON.stringify(answers[index])}`);
      paths.push(`${requests[index]?.path}/${success.objectId}`);
    }
  }
  return paths;
}
