import type { BenchContext } from '../support/context.ts';
import { declareTable, fill, serviceTarget } from '../support/fill.ts';
import { LoadClient, type LoadResult } from '../support/load-client.ts';
import { spread, table } from '../support/records.ts';
import { count, median, milliseconds, note, printTable, ratio, verdict } from '../support/report.ts';
import { type Prepared, send, type Target } from '../support/target.ts';

const connections = 8;
const rate = 800;

/** Point reads at a fixed, modest rate, with and without a client that continuously executes regex scans. */
export async function hostile({ records = 1_000_000, seconds, rounds, scratch }: BenchContext): Promise<void> {
  const service = await scratch.service(await scratch.directory());
  await declareTable(service);
  const target = serviceTarget(service);
  const ids = await fill(target, records, 1000);
  const reads = Array.from({ length: 5000 }, (_, index): Prepared => {
    return { method: 'GET', path: `/platform/classes/${table}/${ids[spread(index, ids.length)]}` };
  });

  const load = new LoadClient(scratch);
  const options = { connections, rate, seconds: Math.max(seconds, 3), warmup: 0.5 };
  const quiet: LoadResult[] = [];
  const beset: LoadResult[] = [];
  const scans: number[] = [];
  await load.run(target, reads, options);
  for (let round = 1; round <= rounds; round++) {
    quiet.push(await load.run(target, reads, options));
    const attack = scanUntilStopped(target);
    beset.push(await load.run(target, reads, options));
    scans.push(...(await attack.stop()));
    note(`round ${round} of ${rounds} done`);
  }

  const middle = (results: LoadResult[], name: 'p50' | 'p99' | 'perSecond') => median(results.map((result) => result[name]));
  const row = (name: string, results: LoadResult[]) => [
    name,
    count(middle(results, 'perSecond')),
    milliseconds(middle(results, 'p50')),
    milliseconds(middle(results, 'p99')),
  ];
  const times = middle(beset, 'p99') / middle(quiet, 'p99');
  const rows = [
    [...row('quiet', quiet), '', '', ''],
    [...row('beside regex scans', beset), ratio(times), '< 3×', verdict(times < 3)],
  ];
  const heading = `hostile: point reads at ${rate}/s over ${connections} connections, ${count(records)} rows, medians of ${rounds}`;
  printTable(heading, ['', 'reads/s', 'p50', 'p99', 'p99 ratio', 'target', ''], rows);
  console.log(`regex scans ended: ${scans.length}, ${milliseconds(median(scans))} each (median)`);
}

/** A client that repeatedly queries a regex that matches no row. */
function scanUntilStopped(target: Target): { stop(): Promise<number[]> } {
  const where = encodeURIComponent(JSON.stringify({ Comment: { $regex: 'offer.*seats.*never said' } }));
  const scan: Prepared = { method: 'GET', path: `/platform/classes/${table}?where=${where}&limit=1` };
  const durations: number[] = [];
  let stopped = false;
  const running = (async () => {
    while (!stopped) {
      const started = performance.now();
      await send(target, scan).catch((error: Error) => note(`a scan failed: ${error.message}`));
      durations.push(performance.now() - started);
    }
  })();
  return {
    async stop() {
      stopped = true;
      await running;
      return durations;
    },
  };
}
