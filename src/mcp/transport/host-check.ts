import { isIP } from 'node:net';

/**
 * Whether a request may have come for this service by its name. A page of another site can have its own name lead to a service on the
 * machine of who visits it (DNS rebinding); it cannot have it called by an address, nor by a name of the service's.
 * @param host as the `Host` header has it; `undefined` where there is none, which no browser sends
 * @param names the host names that the service goes by
 */
export function isOwnHost(host: string | undefined, names: readonly string[]): boolean {
  if (host === undefined || host === '') return true;
  const name = hostName(`http://${host}`);
  if (name === null) return false;
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  return isIP(name.replace(/^\[|\]$/g, '')) !== 0 || names.includes(name);
}

/** The name in an address, lower-case; `null` where that is none. */
export function hostName(address: string): string | null {
  return URL.parse(address)?.hostname ?? null;
}
