import type { FastifyInstance, FastifyRequest } from 'fastify';
import { holdsKey } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { prefix } from '../../kernel/prefix.ts';
import {
  authorOf,
  type ImportJobs,
  type JobRow,
  jobAnswer,
  jobRequestOf,
  MAX_BODY_BYTES,
  readJob,
  rejectedRows,
} from '../../transfer/index.ts';
import { allowBodyTime } from '../connections/body-timeout.ts';
import type { ApiRequest, Endpoint } from '../endpoint/endpoint.ts';
import { answerEndpoint } from '../endpoint/endpoint-handler.ts';
import { openEnvelope } from '../endpoint/parse-request.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { bytesOf } from '../files/body.ts';

/** Milliseconds that the bytes of a file may take. */
const BODY_TIMEOUT_MS = 900_000;

/** CONTRACT "Export, import, migration": the import of a file, as a job. Its body is not read before it is asked for, whatever its type. */
export function registerImport(server: FastifyInstance, services: HttpServices): void {
  server.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
    scope.route({
      method: 'POST',
      url: `${prefix}/import/:className`,
      handler(request, reply) {
        const started = performance.now();
        allowBodyTime(request.raw, BODY_TIMEOUT_MS);
        const envelope = openEnvelope(request.headers, undefined);
        const endpoint = importEndpoint(services.imports, request);
        void answerEndpoint({ services, endpoint, envelope, request, reply, started });
      },
    });
    done();
  });
}

const importEndpoint = (imports: ImportJobs, request: FastifyRequest): Endpoint => ({
  method: 'POST',
  path: '/import/:className',
  async handle({ system, context, params: { className = '' }, query }) {
    const bytes = bytesOf(request.raw);
    try {
      const asked = jobRequestOf(context, className, query, request.headers['content-type']);
      if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) fail('tooLarge');
      const job = await imports.add(system, context, asked, bytes);
      return { status: 202, json: JSON.stringify({ job }) };
    } finally {
      await bytes.return?.();
    }
  },
});

/** The same: how a job is, and the rows that it refused. */
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
