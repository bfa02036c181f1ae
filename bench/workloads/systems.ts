import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { testServer } from '../../src/storage/postgres/testing/server.ts';
import type { ServiceProcess } from '../../test/support/service-process.ts';
import { reason, runCommand } from '../support/command.ts';
import type { BenchContext } from '../support/context.ts';
import { cpuSecondsOf } from '../support/cpu.ts';
import { LoadClient } from '../support/load-client.ts';
import { addSystems, type MadeSystem, masterOf } from '../support/many-systems.ts';
import { memoryOf } from '../support/memory.ts';
import { count, median, megabytes, milliseconds, note, printTable, ratio, verdict } from '../support/report.ts';
import type { Target } from '../support/target.ts';

/** Systems added by the sub-command. */
const COMMANDS = 5;
/** Time for which an idle service is observed, in milliseconds. */
const IDLE_MS = 10_000;
/** Time in which a service that has started finishes what it does in the background, in milliseconds. */
const SETTLING_MS = 8_000;
const CONNECTIONS = 32;
/** Systems that are opened one by one, by requests that are measured; the others are opened so many at a time. */
const OPENED_ALONE = 100;
const OPENED_AT_ONCE = 4;

/**
 * Adds systems, starts with all of them, opens each and ends. With 100 systems and with `--records`, embedded; then on PostgreSQL, with a tenth.
 */
export async function systems({ records: wanted = 1_000, seconds, scratch }: BenchContext): Promise<void> {
  const server = await testServer();
  scratch.keep(server);
  const load = new LoadClient(scratch);
  for (const database of [undefined, await server.database()]) {
    const dataDir = await scratch.directory();
    const first = await scratch.service(dataDir, database);
    await first.stop();
    if (!database) await addByCommand({ scratch, dataDir });
    const made: MadeSystem[] = [];
    for (const total of database ? [wanted / 10] : [Math.min(100, wanted / 10), wanted]) {
      made.push(...(await addSystems(dataDir, Math.round(total) - made.length, database)));
      await observe({ made, load, seconds, engine: database ? 'PostgreSQL' : 'embedded' }, () =>
        scratch.service(dataDir, database),
      );
    }
  }
}

async function addByCommand({ scratch, dataDir }: Pick<BenchContext, 'scratch'> & { dataDir: string }): Promise<void> {
  const times: number[] = [];
  for (let at = 0; at < COMMANDS; at++) {
    const result = await runCommand(scratch, dataDir, ['system', 'add', '--name', `Bench ${at}`]);
    if (result.code !== 0) throw new Error(`\`system add\` ended with ${reason(result)}`);
    times.push(result.seconds);
  }
  const time = median(times);
  const row = ['adding a system, start of the program included', `${time.toFixed(2)} s`, '< 2 s', verdict(time < 2)];
  printTable('systems: the command', ['', 'median', 'target', ''], [row]);
}

interface Observed {
  readonly made: readonly MadeSystem[];
  readonly load: LoadClient;
  readonly seconds: number;
  readonly engine: string;
}

async function observe({ made, load, seconds, engine }: Observed, start: () => Promise<ServiceProcess>): Promise<void> {
  const began = performance.now();
  const service = await start();
  const startTime = (performance.now() - began) / 1000;
  const pid = service.process.pid ?? 0;
  await sleep(SETTLING_MS);
  const closed = stateOf(pid);
  const closedShare = await idleShare(pid);
  const [one, ...others] = made as [MadeSystem, ...MadeSystem[]];
  const target = { name: 'service', url: service.url, headers: masterOf(one) };
  const alone = await costOfRead(target, { load, seconds, pid });
  const times: number[] = [];
  for (const system of others.slice(0, OPENED_ALONE)) times.push(await firstRequest(service.url, system));
  const rest = others.slice(OPENED_ALONE).values();
  const openRest = async () => {
    for (const system of rest) await firstRequest(service.url, system);
  };
  await Promise.all(Array.from({ length: OPENED_AT_ONCE }, openRest));
  note(`${count(made.length)} systems are open`);
  const open = stateOf(pid);
  const openShare = await idleShare(pid);
  const among = await costOfRead(target, { load, seconds, pid });
  const ending = performance.now();
  await service.stop();
  const endTime = (performance.now() - ending) / 1000;

  const mayTake = made.length > 200 ? 10 : 3;
  times.sort((a, b) => a - b);
  const rows = [
    ['start to listening', `${startTime.toFixed(2)} s`, `< ${mayTake} s`, verdict(startTime < mayTake)],
    ['resident memory, all closed', megabytes(closed.resident), '< 250 MB', verdict(closed.resident < 250e6)],
    ['memory of an open system', megabytes((open.own - closed.own) / others.length), '', ''],
    ['descriptors of an open system', ((open.descriptors - closed.descriptors) / others.length).toFixed(1), '', ''],
    ['first request to a closed system, median', milliseconds(median(times)), '', ''],
    ['the same, p99', milliseconds(times[Math.floor(times.length * 0.99)] ?? 0), '', ''],
    ['processor while nothing is requested, all closed', percent(closedShare), '', ''],
    ['the same, all open', percent(openShare), '< 1 %', verdict(openShare < 0.01)],
    ['processor time of a point read, all open to one open', ratio(among / alone), '< 1.1×', verdict(among / alone < 1.1)],
    ['SIGTERM to exit, all open', `${endTime.toFixed(2)} s`, '< 5 s', verdict(endTime < 5)],
  ];
  printTable(`systems: ${count(made.length + 1)} systems, ${engine}`, ['', 'measured', 'target', ''], rows);
}

const percent = (share: number) => `${(share * 100).toFixed(2)} %`;

function stateOf(pid: number): { resident: number; own: number; descriptors: number } {
  return { ...(memoryOf(pid) ?? { resident: 0, own: 0 }), descriptors: readdirSync(`/proc/${pid}/fd`).length };
}

/** @returns processor time divided by time */
async function idleShare(pid: number): Promise<number> {
  const before = cpuSecondsOf(pid);
  await sleep(IDLE_MS);
  return (cpuSecondsOf(pid) - before) / (IDLE_MS / 1000);
}

/** @returns milliseconds */
async function firstRequest(url: string, system: MadeSystem): Promise<number> {
  const began = performance.now();
  const answer = await fetch(`${url}/platform/classes/Accounts?limit=1`, { headers: masterOf(system) });
  await answer.text();
  if (answer.status !== 200) throw new Error(`a read of ${system.appId} answered ${answer.status}`);
  return performance.now() - began;
}

/** @returns processor time of the service for a point read, in seconds */
async function costOfRead(
  target: Target,
  { load, seconds, pid }: { load: LoadClient; seconds: number; pid: number },
): Promise<number> {
  const headers = { ...target.headers, 'Content-Type': 'application/json' };
  const created = await fetch(`${target.url}/platform/classes/Accounts`, { method: 'POST', headers, body: '{"Name":"Read"}' });
  const { objectId } = (await created.json()) as { objectId: string };
  const requests = [{ method: 'GET', path: `/platform/classes/Accounts/${objectId}` }];
  const options = { connections: CONNECTIONS, seconds, warmup: 1 };
  await load.run(target, requests, options);
  const before = cpuSecondsOf(pid);
  const { answered } = await load.run(target, requests, options);
  return (cpuSecondsOf(pid) - before) / answered;
}
