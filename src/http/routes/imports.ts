import { holdsKey } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { prefix } from '../../kernel/prefix.ts';
import { authorOf, type JobRow, jobAnswer, readJob, rejectedRows } from '../../transfer/index.ts';
import type { ApiRequest, Endpoint } from '../endpoint/endpoint.ts';
import type { HttpServices } from '../endpoint/services.ts';

/** CONTRACT "Export, import, migration": how a job is, and the rows that it refused. */
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

/** A job is seen by who asked for it, and by keys. @throws objectNotFound (101) */
async function jobOf({ context, params: { id = '' } }: ApiRequest): Promise<JobRow> {
  const { store, principal } = context;
  const job = principal.kind === 'user' || holdsKey(principal) ? await readJob(store, id) : null;
  if (!job || (principal.kind === 'user' && job.author !== authorOf(principal))) return fail('objectNotFound');
  return job;
}
