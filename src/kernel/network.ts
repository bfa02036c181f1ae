import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The network of anything that is no client address; one name for all, so that made-up addresses gain nothing. */
const unknown = 'unknown';
/** Some proxies append a port to the address. */
const withPort = /^(?:([\d.]+)|\[([^\]]+)\])(?::\d+)?$/;
/** 16-bit groups of an address that identify the network: a provider gives each customer a /64. */
const NETWORK_GROUPS = 4;
/** Longer texts are no addresses. */
const MAX_CACHED_LENGTH = 64;

/** Cache, since every request needs it; emptied when it is full. */
const networks = new Map<string, string>();
const MAX_CACHED_NETWORKS = 1_000;

/**
 * Returns the network of a client: an IPv4 address itself, the /64 of an IPv6 address. An IPv4 address written as IPv6 is IPv4.
 * Reference: authentication.md#wrong-keys-in-numbers.
 */
export function networkOf(address: string): string {
  const known = networks.get(address);
  if (known !== undefined) return known;
  const network = findNetwork(address);
  if (address.length > MAX_CACHED_LENGTH) return network;
  if (networks.size >= MAX_CACHED_NETWORKS) networks.clear();
  networks.set(copied(address), network);
  return network;
}

function findNetwork(address: string): string {
  const kind = isIP(address);
  if (kind === 4) return copied(address);
  if (kind === 6) return networkOfIPv6(address);
  const [, ipv4 = '', ipv6 = ''] = withPort.exec(address) ?? [];
  if (isIP(ipv4) === 4) return copied(ipv4);
  return isIP(ipv6) === 6 ? networkOfIPv6(ipv6) : unknown;
}

/** Copies a text: a substring of a header would keep the whole header in memory. */
const copied = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');

function networkOfIPv6(text: string): string {
  const [address = ''] = text.split('%');
  const parsed = ipaddr.process(address);
  if (!('parts' in parsed)) return parsed.toString();
  return parsed.parts
    .slice(0, NETWORK_GROUPS)
    .map((group) => group.toString(16))
    .join(':');
}
