import { escapeHtml } from '../../kernel/html.ts';
import type { Language } from '../../kernel/language.ts';
import { isolated } from './page.ts';
import { texts } from './texts.ts';

/** The requesting program, as the pages describe it. All values come from outside and are untrusted. */
export interface RequestingClient {
  readonly name: string | undefined;
  /** The redirect URI that ends the sign-in. */
  readonly redirectUri: string;
  /** The URL of its metadata document, if that is its id. */
  readonly publishedAt: string | undefined;
}

/** Returns the program's name as HTML. */
export function nameOf({ name }: RequestingClient, language: Language): string {
  return name === undefined ? escapeHtml(texts[language].client.unnamed) : isolated(name);
}

const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Returns HTML about a program for each page: where the browser goes next, and that its name proves nothing. */
export function aboutClient({ redirectUri, publishedAt }: RequestingClient, language: Language): string {
  const { client } = texts[language];
  const lines = [whereTo(redirectUri, language)];
  if (publishedAt !== undefined) lines.push(client.publishedAt(hostOf(publishedAt)));
  return `<div class="about"><p>${lines.join(' ')}</p><p>${escapeHtml(client.warning)}</p></div>`;
}

function whereTo(redirectUri: string, language: Language): string {
  const { client } = texts[language];
  const url = URL.parse(redirectUri);
  if (url?.protocol === 'http:' && loopback.test(url.hostname)) return client.onDevice(hostOf(redirectUri));
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return client.returnsTo(hostOf(redirectUri));
  return client.inProgram(`<bdi dir="ltr">${escapeHtml(url?.protocol ?? '')}</bdi>`);
}

/** Returns a host in ASCII (punycode), so that look-alike letters are visible. */
const hostOf = (address: string): string => `<bdi dir="ltr"><strong>${escapeHtml(URL.parse(address)?.host ?? '')}</strong></bdi>`;
