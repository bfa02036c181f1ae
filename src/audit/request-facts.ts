import type { IncomingHttpHeaders } from 'node:http';
import type { LoggedRequest } from './request-log.ts';

/** A request as the HTTP framework has it. */
export interface HttpRequest {
  readonly headers: IncomingHttpHeaders;
  /** The framework has none for a connection that is gone. */
  readonly ip: string | undefined;
  /** The proxies that it came by. */
  readonly ips?: readonly string[] | undefined;
  readonly body: unknown;
}

/** What the log says of a request, whatever it asked. */
type RequestFacts = Pick<LoggedRequest, 'ip' | 'country' | 'referer' | 'userAgent' | 'contentLength'>;

/** @param trustProxy whose word counts for others (CONTRACT "Running": TRUST_PROXY) */
export function factsOf(request: HttpRequest, trustProxy: boolean | string[]): RequestFacts {
  const { headers, ip = '' } = request;
  return {
    ip,
    country: countryOf(request, trustProxy),
    referer: headers.referer,
    userAgent: headers['user-agent'],
    contentLength: lengthOf(request),
  };
}

/** Bytes of the body as it was sent; where nobody said, those of its text. */
function lengthOf({ headers, body }: HttpRequest): number {
  const said = headers['content-length'];
  if (said !== undefined) return Number(said) || 0;
  return typeof body === 'string' ? Buffer.byteLength(body) : 0;
}

/** The country that a proxy names, where the request came by one whose word counts. */
function countryOf({ headers, ips = [] }: HttpRequest, trustProxy: boolean | string[]): string | undefined {
  const country = headers['cf-ipcountry'];
  if (trustProxy === false || typeof country !== 'string' || !/^[A-Z][A-Z0-9]$/i.test(country)) return undefined;
  return trustProxy === true || ips.length > 1 ? country.toUpperCase() : undefined;
}
