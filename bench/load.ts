/** The load generator: a process of its own that runs the jobs it is sent, one at a time, and answers their results. */
import { type Job, runJob } from './load/job.ts';

process.on('message', (job: Job) => {
  runJob(job).then(
    (result) => process.send?.({ result }),
    (error: Error) => process.send?.({ error: error.message }),
  );
});
process.on('disconnect', () => process.exit());
