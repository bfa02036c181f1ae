import type { FastifyInstance } from 'fastify';
import { prefix } from '../../kernel/prefix.ts';
import { serviceVersion } from '../../kernel/version.ts';
import { jsonType, varyBy } from '../answer.ts';

/** CONTRACT "Operations": `GET /` leads a browser to the console, and tells a program what it speaks to. */
export function registerHome(server: FastifyInstance, baseUrl: () => string): void {
  server.get('/', (request, reply) => {
    const base = baseUrl();
    const console = `${base}/console/`;
    varyBy(reply, 'Accept');
    if (wantsPage(request.headers.accept)) {
      reply.code(302).header('location', console).send();
      return;
    }
    const about = { name: 'Record Data Service', version: serviceVersion(), console, docs: `${base}${prefix}/openapi.json` };
    reply.header('content-type', jsonType).send(JSON.stringify(about));
  });
}

/** Browsers name the type; programs send any type, or none. */
const wantsPage = (accept: string | undefined): boolean => accept?.toLowerCase().includes('text/html') ?? false;
