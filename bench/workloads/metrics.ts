import { setTimeout as wait } from 'node:timers/promises';
import type { ServiceProcess } from '../../test/support/service-process.ts';
import type { BenchContext } from '../support/context.ts';
import { cpuSecondsOf } from '../support/cpu.ts';
import { declareTable, fill, serviceTarget } from '../support/fill.ts';
import { LoadClient } from '../support/load-client.ts';
import { addSystems, masterOf } from '../support/many-systems.ts';
import { count, median, milliseconds, note, printTable, ratio, verdict } from '../support/report.ts';
import { reads } from './access.ts';

const connections = 32;
/** A point read may lose 2 % by the metrics and their scrapes. */
const MIN_RATE_SHARE = 0.98;
const MAX_SCRAPE_MS = 50;
const SYSTEMS = 1_000;
const SCRAPES = 50;
const WARM_SECONDS = 10;
const token = 'a-token-for-the-bench';
const env = { METRICS_TOKEN: token };
/** As long as an answer is given again. */
const SCRAPE_INTERVAL_MS = 1_000;

/** Point reads with metrics, scraped each second, and without, in turn; then scrapes of a service with 1,000 systems. */
export async function metrics(context: BenchContext): Promise<void> {
  await pointReads(context);
  await scrapesOfMany(context);
}

async function pointReads({ records = 20_000, seconds, rounds, scratch }: BenchContext): Promise<void> {
  const sides: { name: string; service: ServiceProcess; ids: string[]; rates: number[]; costs: number[] }[] = [];
  for (const name of ['off', 'on']) {
    const service = await scratch.service(await scratch.directory(), undefined, undefined, name === 'on' ? env : {});
    await declareTable(service);
    sides.push({ name, service, ids: await fill(serviceTarget(service), records), rates: [], costs: [] });
  }
  const load = new LoadClient(scratch);
  // Until then the code of both is compiled better with each round.
  for (const { service, ids } of sides)
    await load.run(serviceTarget(service), reads(ids), { connections, seconds: WARM_SECONDS, warmup: 0 });
  for (let round = 1; round <= rounds; round++) {
    for (const { name, service, ids, rates, costs } of round % 2 === 1 ? sides : sides.toReversed()) {
      const scraper = name === 'on' ? setInterval(() => void scrape(service), SCRAPE_INTERVAL_MS) : undefined;
      const used = cpuSecondsOf(service.process.pid ?? 0);
      const { perSecond } = await load.run(serviceTarget(service), reads(ids), { connections, seconds, warmup: 0 });
      costs.push((cpuSecondsOf(service.process.pid ?? 0) - used) / (perSecond * seconds));
      clearInterval(scraper);
      rates.push(perSecond);
    }
    note(`round ${round} of ${rounds} done`);
  }
  const rateOf = (rates: readonly number[]) => median([...rates]);
  const row = (name: string, [off, on]: [number, number]) => [
    name,
    count(off),
    count(on),
    ratio(on / off),
    `≥ ${ratio(MIN_RATE_SHARE)}`,
    verdict(on / off >= MIN_RATE_SHARE),
  ];
  const heading = `metrics: ${count(records)} records, ${connections} connections, medians of ${rounds} × ${seconds} s`;
  const rows = [
    row('read one, by the clock', sides.map(({ rates }) => rateOf(rates)) as [number, number]),
    row('read one, by processor time', sides.map(({ costs }) => 1 / rateOf(costs)) as [number, number]),
  ];
  printTable(heading, ['', 'off req/s', 'on req/s', 'ratio', 'target', ''], rows);
  for (const { service } of sides) await service.stop();
}

/** @returns milliseconds */
async function scrape({ url }: Pick<ServiceProcess, 'url'>): Promise<number> {
  const began = performance.now();
  const answer = await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${token}` } });
  await answer.text();
  if (answer.status !== 200) throw new Error(`a scrape answered ${answer.status}`);
  return performance.now() - began;
}

async function scrapesOfMany({ scratch }: BenchContext): Promise<void> {
  const directory = await scratch.directory();
  const first = await scratch.service(directory);
  await first.stop();
  const made = await addSystems(directory, SYSTEMS - 1);
  const service = await scratch.service(directory, undefined, undefined, env);
  const begun = await scrape(service);
  const closed = await repeated(service);
  for (const system of made) {
    const { status } = await fetch(`${service.url}/platform/classes/Accounts?limit=1`, { headers: masterOf(system) });
    if (status !== 200) throw new Error(`a read of ${system.appId} answered ${status}`);
  }
  note(`${made.length} systems are open`);
  const open = await repeated(service);
  const row = (name: string, times: readonly number[]) => [
    name,
    milliseconds(median([...times])),
    milliseconds(Math.max(...times)),
    `< ${MAX_SCRAPE_MS} ms`,
    verdict(median([...times]) < MAX_SCRAPE_MS),
  ];
  const rows = [['the first one', milliseconds(begun), '', '', ''], row('all closed', closed), row('all open', open)];
  printTable(`metrics: scrapes with ${count(made.length + 1)} systems`, ['', 'median', 'longest', 'target', ''], rows);
  await service.stop();
}

/** Each scrape is made: they are so far apart that none is given an earlier answer. */
async function repeated(service: ServiceProcess): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < SCRAPES; n++) {
    await wait(SCRAPE_INTERVAL_MS);
    times.push(await scrape(service));
  }
  return times;
}
