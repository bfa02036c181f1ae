import { readRows } from '../../../records/index.ts';
import type { Store } from '../../../storage/port.ts';
import { type Job, jobOf, type QueueRow, stateOf } from '../../queue/job.ts';
import { queueFields, queueTable } from '../../queue/table.ts';
import { mailOf, type QueuedMail } from '../queued-mail.ts';

/** Returns the queued messages in order. */
export async function queuedMail(store: Store): Promise<{ job: Job; mail: QueuedMail }[]> {
  const fields = ['objectId', 'createdAt', ...queueFields];
  const rows = await readRows<QueueRow>(store, { className: queueTable, fields, filter: () => ({ kind: 'always' }) });
  const jobs = rows.map(jobOf).filter(({ kind }) => kind === 'mail');
  return jobs.map((job) => ({ job, mail: mailOf(stateOf(job)) }));
}
