import type { FastifyInstance } from 'fastify';
import type { Addresses } from '../../config/index.ts';
import { prefix } from '../../kernel/prefix.ts';
import { serviceVersion } from '../../kernel/version.ts';
import type { Unreachable } from '../../storage/engine.ts';
import { jsonType, varyBy } from '../endpoint/answer.ts';
import type { Readiness } from './readiness.ts';

const UNAVAILABLE = '{"status":"unavailable","checks":{"store":"unreachable"}}';

/** Nodes of a database cluster that are away do not make the service unready, because it serves the systems of the others. */
const readyBody = ({ nodes, systems }: Unreachable): string =>
  JSON.stringify({ status: 'ready', ...(nodes > 0 && { unreachable: { nodes, systems } }) });

/**
 * Registers the health checks: liveness, which checks nothing, and readiness, which fails while the process drains or the store does not work.
 * Reference: operations.md#health-checks.
 */
export function registerHealth(server: FastifyInstance, isDraining: () => boolean, readiness: Readiness): void {
  server.get('/health/live', (_request, reply) => {
    reply.header('content-type', jsonType).send('{"status":"live"}');
  });
  for (const url of ['/health', '/health/ready'])
    server.get(url, async (_request, reply) => {
      const found = isDraining() ? null : await readiness.check();
      // A shutdown may have begun during the probe.
      const body = isDraining() ? '{"status":"draining"}' : found ? readyBody(found) : UNAVAILABLE;
      reply.header('content-type', jsonType).header('cache-control', 'no-store');
      return reply.code(found && !isDraining() ? 200 : 503).send(body);
    });
}

/** Registers `GET /`: redirects browsers to the console and describes the service to programs. Reference: requests.md#addresses. */
export function registerHome(server: FastifyInstance, addresses: Pick<Addresses, 'base'>): void {
  server.get('/', (request, reply) => {
    const base = addresses.base;
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

/** Browsers send `text/html`; programs send other types or none. */
const wantsPage = (accept: string | undefined): boolean => accept?.toLowerCase().includes('text/html') ?? false;
