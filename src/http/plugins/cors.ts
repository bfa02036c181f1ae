import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

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
    exposedHeaders: [
      ...['X-Request-Id', 'Location', 'ETag', 'Accept-Ranges', 'Content-Range', 'Content-Disposition', 'Retry-After'],
      // Of the agent tools: where to sign in, and what the protocol's clients look at.
      ...['WWW-Authenticate', 'Mcp-Session-Id', 'MCP-Protocol-Version'],
    ],
    maxAge: 86_400,
    strictPreflight: false,
  });
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
