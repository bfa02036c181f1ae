import type { FastifyRequest } from 'fastify';

const readMethods: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Header of all requests of the program. Another site cannot send it: that needs a preflight, which the console never allows. */
const CONSOLE_HEADER = 'x-console';

/**
 * Whether a request comes from another site (protection against CSRF). Only top-level navigation (e.g. a link in a mail) may cross sites.
 * `Sec-Fetch-Site` decides; without it (older browsers, plain http) `Origin` does. Requests that may write also need the `x-console` header.
 * Reference: console.md#the-gate.
 * @param origin of the console
 */
export function isCrossSite({ method, headers }: Pick<FastifyRequest, 'method' | 'headers'>, origin: string): boolean {
  if (!readMethods.has(method) && headers[CONSOLE_HEADER] === undefined) return true;
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin' || site === 'none') return false;
  if (site !== undefined) return !isNavigation(method, headers);
  return headers.origin !== undefined && headers.origin !== origin;
}

/** Whether it is a top-level navigation, not one in a frame. */
const isNavigation = (method: string, headers: FastifyRequest['headers']): boolean =>
  readMethods.has(method) && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
