import type { FastifyRequest } from 'fastify';

const navigating: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Whether a request comes from another site (CONTRACT "Console"). A link in a mail opens the console; whatever else another site begins is
 * refused. `Sec-Fetch-Site` tells; browsers without it, and pages of plain http, tell their `Origin`.
 * @param origin of the console
 */
export function isCrossSite({ method, headers }: Pick<FastifyRequest, 'method' | 'headers'>, origin: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin' || site === 'none') return false;
  if (site !== undefined) return !isNavigation(method, headers);
  return headers.origin !== undefined && headers.origin !== origin;
}

/** A page of its own, not one in a frame. */
const isNavigation = (method: string, headers: FastifyRequest['headers']): boolean =>
  navigating.has(method) && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
