import { escapeHtml } from '../../kernel/html.ts';
import type { Language } from '../../kernel/language.ts';
import { isolated } from './page.ts';
import { texts } from './texts.ts';

/** The program that asks, as the pages tell of it. Everything of it comes from outside. */
export interface Asking {
  readonly name: string | undefined;
  /** Where the browser goes afterwards. */
  readonly redirectUri: string;
  /** The address of its metadata document, where that is its id. */
  readonly publishedAt: string | undefined;
}

/** The program's name, as HTML. */
export function nameOf({ name }: Asking, language: Language): string {
  return name === undefined ? escapeHtml(texts[language].client.unnamed) : isolated(name);
}

const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** What stands about a program on each page: where it leads, and that its name proves nothing. HTML */
export function aboutClient({ redirectUri, publishedAt }: Asking, language: Language): string {
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

/** A host in ASCII, so that letters of other scripts show. */
const hostOf = (address: string): string => `<bdi dir="ltr"><strong>${escapeHtml(URL.parse(address)?.host ?? '')}</strong></bdi>`;
