import type { FastifyReply, FastifyRequest } from 'fastify';
import type { System, Systems } from '../systems/index.ts';

/**
 * Holds a system for the time of some work.
 * @param appId as a path names it; `undefined` where it names none
 * @returns what the work returns; `undefined` where there is no such system
 */
export async function withSystem<T>(
  systems: Systems,
  appId: string | undefined,
  work: (system: System) => T | Promise<T>,
): Promise<T | undefined> {
  const system = appId === undefined ? undefined : await systems.enter(appId);
  if (!system) return undefined;
  try {
    return await work(system);
  } finally {
    system.release();
  }
}

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
