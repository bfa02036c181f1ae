import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { request } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import ipaddr from 'ipaddr.js';

/** Timeout of a whole answer. The reader limits its size. */
const TIMEOUT_MS = 2_500;

/** The subset of `fetch` that the provider uses, to read a client's metadata document (whose URL is the `client_id`). */
export type Fetch = (address: string, options?: RequestInit) => Promise<Response>;

/** Internal address of a cloud (Azure) within a public range. */
const internalAddresses: ReadonlySet<string> = new Set(['168.63.129.16']);

/** Whether an IP address is on the public internet, i.e. not on this host, its networks or those of its hosting provider. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast' || internalAddresses.has(parsed.toString())) return false;
  // Only 2000::/3 is allocated for global IPv6; other ranges may embed an IPv4 address.
  return !('parts' in parsed) || ((parsed.parts[0] ?? 0) & 0xe000) === 0x2000;
}

/** Whether a URL may be fetched, judged without resolving its name. */
export function mayBeFetched(address: string): boolean {
  const url = URL.parse(address);
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return false;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? host.includes('.') && !/\.$/.test(host) : isPublic(host);
}

/**
 * Resolves a name and requires all its addresses to be public. The connection uses one of them without resolving again, which prevents DNS rebinding.
 */
const publicLookup: LookupFunction = (host, { all }, callback) => {
  addressesOf(host).then(
    (found) => {
      const [first] = found;
      if (!first || !found.every(({ address }) => isPublic(address)))
        return callback(new Error('the name does not lead to the public internet'), []);
      if (all) callback(null, found);
      else callback(null, first.address, first.family);
    },
    (error) => callback(error, []),
  );
};

/** Uses DNS servers directly: the operating system's lookup would occupy a libuv thread, needed for comparing passwords. */
async function addressesOf(host: string): Promise<LookupAddress[]> {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 });
  const found = await Promise.allSettled([
    resolver.resolve4(host).then((addresses) => addresses.map((address) => ({ address, family: 4 }))),
    resolver.resolve6(host).then((addresses) => addresses.map((address) => ({ address, family: 6 }))),
  ]);
  return found.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}

/**
 * Fetches a URL chosen by an outsider, only from the public internet: by https, without following redirects, with a timeout. Custom code, because
 * `fetch` of undici, even with this lookup, adds headers and decompresses, and `request-filtering-agent` resolves names on the threads that compare
 * passwords.
 * @throws Error on failure
 */
export const ssrfSafeFetch: Fetch = (address, options) =>
  new Promise((done, failed) => {
    if (!mayBeFetched(address)) return failed(new Error('the address is not of the public internet'));
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const sent = request(address, {
      method: 'GET',
      headers: { ...Object.fromEntries(new Headers(options?.headers)), 'accept-encoding': 'identity' },
      lookup: publicLookup,
      agent: false,
      signal,
    });
    sent.on('error', failed);
    sent.on('response', (answer) => {
      const headers = new Headers();
      for (const [name, value] of Object.entries(answer.headers)) if (typeof value === 'string') headers.set(name, value);
      const status = answer.statusCode ?? 0;
      // `Response` accepts no other status, and a response with these has no body.
      if (status < 200 || status > 599 || [204, 205, 304].includes(status)) {
        answer.destroy();
        return failed(new Error('the answer is no document'));
      }
      done(new Response(Readable.toWeb(answer) as ReadableStream, { status, headers }));
    });
    sent.end();
  });
