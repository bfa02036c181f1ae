import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import { consolePath } from '../../kernel/prefix.ts';
import type { Logger } from '../../observe/index.ts';

/** Carries a request's id, in both directions. */
export const requestIdHeader = 'x-request-id';

/** Tells the processes behind a balancer, and the starts of one, apart. */
const start = randomBytes(6).toString('hex');
const plain = /^[\w-]{6,64}$/;
let count = 0;

/** The id of a request: the client's own where that is short and plain, else a new one. */
export function requestId(request: Pick<IncomingMessage, 'headers'>): string {
  const sent = request.headers[requestIdHeader];
  return typeof sent === 'string' && plain.test(sent) ? sent : newRequestId();
}

/** An id that no other request of any process has. */
export function newRequestId(): string {
  return `${start}-${(count++).toString(36)}`;
}

/** CONTRACT "Requests": every answer carries its request's id. */
export function registerRequestId(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    reply.header(requestIdHeader, request.id);
    done();
  });
}

/** A line for each request where the log is at debug. It holds the pattern of the path: the path itself may carry what a client put there. */
export function registerRequestLog(server: FastifyInstance, log: Logger): void {
  if (!log.isLevelEnabled('debug')) return;
  server.addHook('onResponse', (request, reply, done) => {
    const { method, id, routeOptions } = request;
    log.debug(
      { request: id, method, route: routeOptions.url, status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
      'request',
    );
    done();
  });
}

const asked = 'access-control-request-headers';

/** Allowed whether or not a preflight asks for them: the headers of SPEC "Credentials", and what clients of Parse send. */
const known = [
  'Content-Type',
  'X-Request-Id',
  ...['Application-Id', 'API-Key', 'Master-Key', 'Session-Token', 'Installation-Id', 'Client-Version'].map(
    (name) => `X-Platform-${name}`,
  ),
];

/** SPEC "Conventions" CORS: the Origin is echoed, and whatever headers a preflight asks for are allowed. */
export async function registerCors(server: FastifyInstance): Promise<void> {
  server.addHook('onRequest', (request, _reply, done) => {
    if (request.method === 'OPTIONS') request.headers[asked] = allowedHeaders(request.headers[asked]);
    done();
  });
  await server.register(cors, {
    origin: true,
    methods: 'GET,PUT,POST,DELETE,OPTIONS',
    // One text: a list would be joined for each answer.
    exposedHeaders: [
      ...['X-Request-Id', 'Location', 'ETag', 'Accept-Ranges', 'Content-Range', 'Content-Disposition', 'Retry-After'],
      // Of the agent tools: where to sign in, and what the protocol's clients look at.
      ...['WWW-Authenticate', 'Mcp-Session-Id', 'MCP-Protocol-Version'],
    ].join(', '),
    maxAge: 86_400,
    strictPreflight: false,
  });
  // Its routes say so themselves; addresses and methods that it has not are nobody's.
  server.addHook('onRequest', (request, reply, done) => {
    if (request.is404 && isOfConsole(request.url))
      for (const name of Object.keys(reply.getHeaders())) if (name.startsWith('access-control-')) reply.removeHeader(name);
    done();
  });
}

/** Whether an address is the console's, which tells other origins nothing (CONTRACT "Console"). @param url as it was sent, decodable or not */
export function isOfConsole(url: string): boolean {
  const [path = ''] = url.split('?', 1);
  const decoded = path.replace(/%([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return decoded === consolePath || decoded.startsWith(`${consolePath}/`);
}

/** What a preflight asks for, and the known headers that it does not ask for. */
function allowedHeaders(wanted: string | string[] | undefined): string {
  const names = String(wanted ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const folded = new Set(names.map((name) => name.toLowerCase()));
  return [...names, ...known.filter((name) => !folded.has(name.toLowerCase()))].join(',');
}
