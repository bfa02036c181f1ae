import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** What no address of a client is; one name for all of it, so that who makes up addresses gains nothing. */
const unknown = 'unknown';
/** Some proxies name a port beside the address. */
const withPort = /^(?:([\d.]+)|\[([^\]]+)\])(?::\d+)?$/;
/** 16-bit groups of an address that name the network: a /64 is what one customer of a provider has. */
const NETWORK_GROUPS = 4;
/** Longer texts are no addresses. */
const MAX_REMEMBERED_LENGTH = 64;

/** What was found, since each request asks; all of it is forgotten where it is too much. */
const remembered = new Map<string, string>();
const MAX_REMEMBERED = 1_000;

/**
 * Whose address it is, as far as an address tells: an IPv4 address itself, of an IPv6 address its /64 (docs/decisions.md "Functions and
 * forms"). An IPv4 address written as IPv6 is IPv4.
 */
export function networkOf(address: string): string {
  const known = remembered.get(address);
  if (known !== undefined) return known;
  const network = findNetwork(address);
  if (address.length > MAX_REMEMBERED_LENGTH) return network;
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  remembered.set(copied(address), network);
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

/** Parts of a header keep all of its text in memory for as long as they are kept. */
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
