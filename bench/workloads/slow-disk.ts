import { join } from 'node:path';
import { injector } from '../../test/faults/preload/control.ts';
import type { BenchContext } from '../support/context.ts';
import { declareTable, fill, serviceTarget } from '../support/fill.ts';
import { LoadClient, type LoadResult } from '../support/load-client.ts';
import { count, median, milliseconds, note, printTable, ratio, verdict } from '../support/report.ts';
import { operations } from './operations.ts';

const MAX_TIMES = 2;
const readers = { connections: 8, rate: 800 };
const writers = 16;
/** Time that each flush takes longer than the disk of this machine, in milliseconds. */
const delays = [0, 20, 500];

/**
 * Point reads at a fixed rate, alone and beside clients that create and update on a disk whose flushes take long (test/faults/preload delays them);
 * the same of the version in `--against`, if it is given.
 */
export async function slowDisk({ records = 20_000, seconds, rounds, scratch, against }: BenchContext): Promise<void> {
  const faults = injector();
  if (!faults) throw new Error('a C compiler is needed, which builds the library that delays flushes');
  const programs = against === undefined ? [undefined] : [undefined, join(against, 'src/main.ts')];
  const rows: string[][] = [];
  for (const program of programs) {
    const service = await scratch.service(await scratch.directory(), undefined, program, faults.env);
    await declareTable(service);
    const target = serviceTarget(service);
    const ids = await fill(target, records);
    const [reading, writing] = [new LoadClient(scratch), new LoadClient(scratch)];
    const requests = (...names: string[]) =>
      operations.filter(({ name }) => names.includes(name)).flatMap((operation) => operation.requests(ids));
    const reads = requests('read one');
    const writes = requests('create', 'update');
    const options = { ...readers, seconds: Math.max(seconds, 3), warmup: 0.5 };
    const quiet: LoadResult[] = [];
    const beside = new Map(delays.map((delayMs) => [delayMs, { reads: [] as LoadResult[], writes: [] as LoadResult[] }]));
    for (let round = 1; round <= rounds; round++) {
      quiet.push(await reading.run(target, reads, options));
      for (const [delayMs, results] of beside) {
        const rule = faults.begin({ calls: ['sync'], path: service.dataDir, delayMs });
        const [read, written] = await Promise.all([
          reading.run(target, reads, options),
          writing.run(target, writes, { connections: writers, seconds: options.seconds, warmup: 0.5 }),
        ]);
        rule.end();
        results.reads.push(read);
        results.writes.push(written);
      }
      note(`round ${round} of ${rounds} done`);
    }
    const middle = (results: LoadResult[], name: 'p50' | 'p99' | 'perSecond') => median(results.map((result) => result[name]));
    const latencies = (results: LoadResult[]) => [milliseconds(middle(results, 'p50')), milliseconds(middle(results, 'p99'))];
    const version = program === undefined ? '' : 'other: ';
    rows.push([`${version}no writes`, '', ...latencies(quiet), '', '', '']);
    for (const [delayMs, results] of beside) {
      const times = middle(results.reads, 'p99') / middle(quiet, 'p99');
      const isTarget = delayMs === 20 && program === undefined;
      const target = isTarget ? [`< ${MAX_TIMES}×`, verdict(times < MAX_TIMES)] : ['', ''];
      const name = `${version}writes, flushes ${delayMs} ms longer`;
      rows.push([name, count(middle(results.writes, 'perSecond')), ...latencies(results.reads), ratio(times), ...target]);
    }
  }
  const heading = `slow-disk: point reads at ${readers.rate}/s beside ${writers} writers, ${count(records)} records, medians of ${rounds}`;
  printTable(heading, ['', 'writes/s', 'p50', 'p99', 'p99 ratio', 'target', ''], rows);
}
