import type { FastifyReply, FastifyRequest } from 'fastify';

/** Returns the value of a query parameter. */
export function queryValue(request: FastifyRequest, name: string): string | undefined {
  const value = (request.query as ReadonlyMap<string, unknown>).get(name);
  return typeof value === 'string' ? value : undefined;
}

/** Hijacks a reply for code that writes to the raw response, keeping the headers that are set. */
export function hijackReply(reply: FastifyReply): void {
  const headers = reply.getHeaders();
  reply.hijack();
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) reply.raw.setHeader(name, value);
}
