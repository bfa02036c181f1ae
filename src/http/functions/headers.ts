import type { IncomingHttpHeaders } from 'node:http';

/** Headers that let whoever has them act as the sender (SPEC "Credentials"; those of browsers and proxies). */
const credential = /^(?:x-platform-(?:.*-)?(?:key|token)|(?:proxy-)?authorization|cookie)$/;

/** The headers of a request that code of an operator may see: all but credentials. */
export function callersHeaders(headers: IncomingHttpHeaders): Record<string, string | string[] | undefined> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !credential.test(name)));
}
