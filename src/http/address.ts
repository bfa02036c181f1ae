import { prefix } from '../kernel/prefix.ts';

/** Paths whose names are anything, so that a `%` may be one of their letters. */
const named: readonly string[] = [`${prefix}/files/`, '/static/'];
const barePercent = /%(?![0-9a-f]{2})/gi;

/**
 * The address of a request as it is routed. SPEC "Query parameters": an unencoded `#` ends it, wherever it was not already cut off by the
 * client. SPEC "Files" rule 2: in the path of a file a `%` that encodes nothing is itself.
 */
export function addressOf(url: string): string {
  const end = url.indexOf('#');
  const address = end < 0 ? url : url.slice(0, end);
  if (!address.includes('%') || !named.some((start) => address.startsWith(start))) return address;
  const query = address.indexOf('?');
  const path = query < 0 ? address : address.slice(0, query);
  return path.replace(barePercent, '%25') + address.slice(path.length);
}
