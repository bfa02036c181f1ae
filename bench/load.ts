/** The load generator: a separate process that executes the jobs it receives, one at a time, and returns their results. */
import { type Job, runJob } from './load/job.ts';
import { type SteadyReads, startReads } from './load/steady-reads.ts';
import { runTransfers, type Transfers } from './load/transfers.ts';

/** Ends the reads of the last job of that kind. */
let stop: ReturnType<typeof startReads> | undefined;

function run(job: Job | Transfers | SteadyReads | 'stop'): Promise<unknown> | undefined {
  if (job === 'stop') return stop?.();
  if (job.kind !== 'steady') return job.kind === 'transfers' ? runTransfers(job) : runJob(job);
  stop = startReads(job);
  return undefined;
}

process.on('message', (job: Job | Transfers | SteadyReads | 'stop') => {
  run(job)?.then(
    (result: unknown) => process.send?.({ result }),
    (error: Error) => process.send?.({ error: error.message }),
  );
});
process.on('disconnect', () => process.exit());
