import { isIP } from 'node:net';

/** The sender of mail where MAIL_FROM is not set: `no-reply` at the host of BASE_URL, or at `localhost` where that is no name. */
export function senderFor(baseUrl: string | undefined): string {
  const host = baseUrl === undefined ? '' : (URL.parse(baseUrl)?.hostname ?? '');
  const isName = host !== '' && isIP(host) === 0 && !host.startsWith('[');
  return `no-reply@${isName ? host : 'localhost'}`;
}
