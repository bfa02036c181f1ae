import type { FastifyReply, FastifyRequest } from 'fastify';

/** The one value of a parameter of the query. */
export function queryValue(request: FastifyRequest, name: string): string | undefined {
  const value = (request.query as ReadonlyMap<string, unknown>).get(name);
  return typeof value === 'string' ? value : undefined;
}

/** Hands an answer over to who writes it by hand, with the headers that all answers have. */
export function handOver(reply: FastifyReply): void {
  const headers = reply.getHeaders();
  reply.hijack();
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) reply.raw.setHeader(name, value);
}
