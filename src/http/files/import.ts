import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fail, ServiceError } from '../../errors/fail.ts';
import { prefix } from '../../kernel/prefix.ts';
import { type ImportJobs, jobRequestOf, MAX_BODY_BYTES } from '../../transfer/index.ts';
import { allowBodyTime } from '../connections/body-timeout.ts';
import type { Endpoint } from '../endpoint/endpoint.ts';
import { answerEndpoint } from '../endpoint/endpoint-handler.ts';
import { openEnvelope } from '../endpoint/parse-request.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { bytesOf, hasLeft } from './body.ts';

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
    } catch (error) {
      // That the bytes broke off is no fault of the service.
      if (!(error instanceof ServiceError) && hasLeft(request.raw)) fail('badRequest');
      throw error;
    } finally {
      await bytes.return?.();
    }
  },
});
