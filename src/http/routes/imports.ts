import { holdsKey } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { prefix } from '../../kernel/prefix.ts';
import { authorOf, type JobRow, jobAnswer, readJob, rejectedRows } from '../../transfer/index.ts';
import type { ApiRequest, Endpoint } from '../endpoint/endpoint.ts';
import type { HttpServices } from '../endpoint/services.ts';

/** Status of an import job, and the rows that it rejected. Reference: import.md#import-jobs. */
export const jobEndpoints = ({ addresses }: Pick<HttpServices, 'addresses'>): readonly Endpoint[] => [
  {
    method: 'GET',
    path: '/jobs/:id',
    async handle(request) {
      const job = await jobOf(request);
      const url = `${addresses.base}${prefix}/jobs/${encodeURIComponent(job.objectId)}/rejected`;
      return { status: 200, json: JSON.stringify(jobAnswer(job, url)) };
    },
  },
  {
    method: 'GET',
    path: '/jobs/:id/rejected',
    async handle(request) {
      const job = await jobOf(request);
      return {
        status: 200,
        json: rejectedRows(request.context.store, job.objectId),
        headers: { 'content-type': 'application/x-ndjson' },
      };
    },
  },
];

/** Returns a job, which is visible to the user who started it and to holders of a key. @throws objectNotFound (101) */
async function jobOf({ context, params: { id = '' } }: ApiRequest): Promise<JobRow> {
  const { store, principal } = context;
  const job = principal.kind === 'user' || holdsKey(principal) ? await readJob(store, id) : null;
  if (!job || (principal.kind === 'user' && job.author !== authorOf(principal))) return fail('objectNotFound');
  return job;
}
