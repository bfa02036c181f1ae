import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

/** SPEC "Conventions" CORS: the Origin is echoed, and whatever headers a preflight asks for are allowed. */
export async function registerCors(server: FastifyInstance): Promise<void> {
  await server.register(cors, {
    origin: true,
    methods: ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS'],
    exposedHeaders: ['X-Request-Id', 'Location'],
    maxAge: 86_400,
    strictPreflight: false,
  });
}
