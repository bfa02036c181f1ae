import type { IncomingHttpHeaders } from 'node:http';
import type { CallObservation } from '../observe/index.ts';

/** A request as the HTTP framework represents it. */
export interface HttpRequest {
  /** Its id, `X-Request-Id`. */
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  /** `undefined` if the connection is already closed. */
  readonly ip: string | undefined;
  /** The proxies that the request came through. */
  readonly ips?: readonly string[] | undefined;
  readonly body: unknown;
}

/** The facts that the log records for every request. */
type RequestFacts = Pick<CallObservation, 'ip' | 'country' | 'referer' | 'userAgent' | 'bytes'>;

/** Collects the facts of a request for the log. @param trustProxy the proxies whose headers are trusted (settings.md#trust_proxy) */
export function factsOf(request: HttpRequest, trustProxy: boolean | string[]): RequestFacts {
  const { headers, ip = '' } = request;
  return {
    ip,
    country: countryOf(request, trustProxy),
    referer: headers.referer,
    userAgent: headers['user-agent'],
    bytes: lengthOf(request),
  };
}

/** Returns the body's size in bytes: `Content-Length`, or without it the size of the body's text. */
function lengthOf({ headers, body }: HttpRequest): number {
  const declared = headers['content-length'];
  if (declared !== undefined) return Number(declared) || 0;
  return typeof body === 'string' ? Buffer.byteLength(body) : 0;
}

/** Returns the country that a trusted proxy names in `CF-IPCountry`. */
function countryOf({ headers, ips = [] }: HttpRequest, trustProxy: boolean | string[]): string | undefined {
  const country = headers['cf-ipcountry'];
  if (trustProxy === false || typeof country !== 'string' || !/^[A-Z][A-Z0-9]$/i.test(country)) return undefined;
  return trustProxy === true || ips.length > 1 ? country.toUpperCase() : undefined;
}
