/** The load generator: a separate process that executes the jobs it receives, one at a time, and returns their results. */
import { type Job, runJob } from './load/job.ts';
import { runTransfers, type Transfers } from './load/transfers.ts';

process.on('message', (job: Job | Transfers) => {
  const running = job.kind === 'transfers' ? runTransfers(job) : runJob(job);
  running.then(
    (result: unknown) => process.send?.({ result }),
    (error: Error) => process.send?.({ error: error.message }),
  );
});
process.on('disconnect', () => process.exit());
