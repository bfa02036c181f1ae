import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import { consolePath } from '../../kernel/prefix.ts';

/** Header with the request's id, in both directions. */
export const requestIdHeader = 'x-request-id';

/** Distinguishes processes behind a load balancer, and restarts of one process. */
const processStart = randomBytes(6).toString('hex');
const plainId = /^[\w-]{6,64}$/;
let count = 0;

/** Returns the id of a request: the client's own if it is short and plain, else a new one. */
export function requestId(request: Pick<IncomingMessage, 'headers'>): string {
  const sent = request.headers[requestIdHeader];
  return typeof sent === 'string' && plainId.test(sent) ? sent : newRequestId();
}

/** Returns an id that is unique among all processes. */
export function newRequestId(): string {
  return `${processStart}-${(count++).toString(36)}`;
}

/** Adds the request's id to every answer. Reference: requests.md#headers. */
export function registerRequestId(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    reply.header(requestIdHeader, request.id);
    done();
  });
}

const requestedHeaders = 'access-control-request-headers';

/** Headers that are always allowed: credentials (authentication.md#credentials) and those that Parse clients send. */
const knownHeaders = [
  'Content-Type',
  'X-Request-Id',
  // Conditional and repeated writes (records.md#conditional-writes, requests.md#repeated-requests).
  ...['If-Match', 'If-None-Match', 'Idempotency-Key'],
  ...['Application-Id', 'API-Key', 'Master-Key', 'Session-Token', 'Installation-Id', 'Client-Version'].map(
    (name) => `X-Platform-${name}`,
  ),
];

/** Registers CORS: the Origin is echoed, and all headers that a preflight asks for are allowed. Reference: requests.md#cross-origin-requests. */
export async function registerCors(server: FastifyInstance): Promise<void> {
  server.addHook('onRequest', (request, _reply, done) => {
    if (request.method === 'OPTIONS') request.headers[requestedHeaders] = allowedHeaders(request.headers[requestedHeaders]);
    done();
  });
  await server.register(cors, {
    origin: true,
    methods: 'GET,PUT,POST,DELETE,OPTIONS',
    // One string; the plugin would join a list for each answer.
    exposedHeaders: [
      ...['X-Request-Id', 'Location', 'ETag', 'Accept-Ranges', 'Content-Range', 'Content-Disposition', 'Retry-After'],
      'Idempotency-Replayed',
      // For agents: where to sign in, and headers of the MCP protocol.
      ...['WWW-Authenticate', 'Mcp-Session-Id', 'MCP-Protocol-Version'],
    ].join(', '),
    maxAge: 86_400,
    strictPreflight: false,
  });
  // Routes of the console set their own headers; its unknown URLs and methods must not get CORS headers.
  server.addHook('onRequest', (request, reply, done) => {
    if (request.is404 && isOfConsole(request.url))
      for (const name of Object.keys(reply.getHeaders())) if (name.startsWith('access-control-')) reply.removeHeader(name);
    done();
  });
}

/**
 * Whether a URL belongs to the console, which is closed to other origins (console.md#addresses-of-the-console).
 * @param url as sent, possibly undecodable
 */
export function isOfConsole(url: string): boolean {
  const [path = ''] = url.split('?', 1);
  const decoded = path.replace(/%([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return decoded === consolePath || decoded.startsWith(`${consolePath}/`);
}

/** Returns the headers that a preflight asks for, and the known headers that it does not ask for. */
function allowedHeaders(requested: string | string[] | undefined): string {
  const names = String(requested ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const folded = new Set(names.map((name) => name.toLowerCase()));
  return [...names, ...knownHeaders.filter((name) => !folded.has(name.toLowerCase()))].join(',');
}
