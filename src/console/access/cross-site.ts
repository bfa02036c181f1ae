import type { FastifyRequest } from 'fastify';

const reads: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** The program's own requests carry it. A page of another site cannot send it: no preflight of the console's is ever allowed. */
const MARK = 'x-console';

/**
 * Whether a request comes from another site (CONTRACT "Console"). A link in a mail opens the console; whatever else another site begins is
 * refused. `Sec-Fetch-Site` tells; browsers without it, and pages of plain http, tell their `Origin`. Requests that may change something
 * carry a mark beside.
 * @param origin of the console
 */
export function isCrossSite({ method, headers }: Pick<FastifyRequest, 'method' | 'headers'>, origin: string): boolean {
  if (!reads.has(method) && headers[MARK] === undefined) return true;
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin' || site === 'none') return false;
  if (site !== undefined) return !isNavigation(method, headers);
  return headers.origin !== undefined && headers.origin !== origin;
}

/** A page of its own, not one in a frame. */
const isNavigation = (method: string, headers: FastifyRequest['headers']): boolean =>
  reads.has(method) && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
