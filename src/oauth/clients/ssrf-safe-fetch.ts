import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { request } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import ipaddr from 'ipaddr.js';

/** Milliseconds for a whole answer. Its size is the reader's to bound. */
const TIMEOUT_MS = 2_500;

/** `fetch`, as far as the provider uses it: to read the metadata document of a client (its `client_id` is the address). */
export type Fetch = (address: string, options?: RequestInit) => Promise<Response>;

/** Public by its number, and a cloud's own inside of it. */
const inside: ReadonlySet<string> = new Set(['168.63.129.16']);

/** Whether an address belongs to the public internet: nothing of this host, its networks, or those of its provider. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast' || inside.has(parsed.toString())) return false;
  // Of IPv6 addresses 2000::/3 are given out; others may carry an IPv4 address inside.
  return !('parts' in parsed) || ((parsed.parts[0] ?? 0) & 0xe000) === 0x2000;
}

/** Whether an address may be asked at all, as far as it tells by itself. */
export function mayBeFetched(address: string): boolean {
  const url = URL.parse(address);
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return false;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? host.includes('.') && !/\.$/.test(host) : isPublic(host);
}

/** The name's addresses, all of which have to be public; the connection then goes to one of these, and nobody resolves it again. */
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

/** Asks the name servers alone: the system's own way keeps a thread, of those that compare passwords, for as long as it takes. */
async function addressesOf(host: string): Promise<LookupAddress[]> {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 });
  const found = await Promise.allSettled([
    resolver.resolve4(host).then((addresses) => addresses.map((address) => ({ address, family: 4 }))),
    resolver.resolve6(host).then((addresses) => addresses.map((address) => ({ address, family: 6 }))),
  ]);
  return found.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}

/**
 * Reads an address that somebody outside has chosen, from the public internet alone: over https, without following redirects, in bounded
 * time.
 *
 * An agent of undici takes the same lookup, but its `fetch` adds headers and decompresses; `request-filtering-agent` has
 * names resolved on the threads that compare passwords.
 * @throws Error where that cannot be
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
      // A Response takes no other; none of them is read.
      if (status < 200 || status > 599 || [204, 205, 304].includes(status)) {
        answer.destroy();
        return failed(new Error('the answer is no document'));
      }
      done(new Response(Readable.toWeb(answer) as ReadableStream, { status, headers }));
    });
    sent.end();
  });
