import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fail, ServiceError } from '../../errors/fail.ts';
import { prefix } from '../../kernel/prefix.ts';
import { type ImportJobs, jobRequestOf, MAX_BODY_BYTES } from '../../transfer/index.ts';
import { setBodyTimeout } from '../connections/body-timeout.ts';
import type { Endpoint } from '../endpoint/endpoint.ts';
import { answerEndpoint } from '../endpoint/endpoint-handler.ts';
import { parseEnvelope } from '../endpoint/parse-request.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { bytesOf, hasLeft } from './body.ts';

/** Time limit for the body of an import. */
export const BODY_TIMEOUT_MS = 900_000;

/** Registers the import of a file as a job. The handler reads the body itself, whatever its content type. Reference: import.md#import-jobs. */
export function registerImport(server: FastifyInstance, services: HttpServices): void {
  server.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
    scope.route({
      method: 'POST',
      url: `${prefix}/import/:className`,
      handler(request, reply) {
        const started = performance.now();
        setBodyTimeout(request.raw, BODY_TIMEOUT_MS);
        const envelope = parseEnvelope(request.headers, undefined);
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
      const jobRequest = jobRequestOf(context, className, query, request.headers['content-type']);
      if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) fail('tooLarge');
      const job = await imports.add(system, context, jobRequest, bytes);
      return { status: 202, json: JSON.stringify({ job }) };
    } catch (error) {
      // A client that disconnects is no fault of the service.
      if (!(error instanceof ServiceError) && hasLeft(request.raw)) fail('badRequest');
      throw error;
    } finally {
      await bytes.return?.();
    }
  },
});
