import { escapeHtml, headersOfPage, htmlPage } from '../../kernel/html.ts';
import { directionOf, type Language } from '../../kernel/language.ts';
import { type Message, messages } from './texts.ts';

const style = [
  ':root{color-scheme:light dark;--back:#f6f7f9;--card:#fff;--text:#1b1f24;--dim:#4a5361;--line:#d9dde4;--main:#2451b3}',
  '@media(prefers-color-scheme:dark){:root{--back:#121518;--card:#1b1f24;--text:#e8eaed;--dim:#a9b1bc;--line:#343a43;--main:#8ab4f8}}',
  'body{margin:0;background:var(--back);color:var(--text);font:16px/1.6 system-ui,sans-serif}',
  'main{box-sizing:border-box;width:calc(100% - 2rem);max-width:32rem;margin:12vh auto;padding:2rem}',
  'main{background:var(--card);border:1px solid var(--line);border-radius:12px}',
  'h1{margin:0 0 .75rem;font-size:1.3rem;line-height:1.35}p{margin:0 0 1rem;color:var(--dim)}p:last-child{margin:0}',
  'a{color:var(--main);font-weight:600}bdi{overflow-wrap:anywhere}',
  ':focus-visible{outline:3px solid var(--main);outline-offset:2px}',
].join('');

/** Headers of pages without a script. */
export const messageHeaders = { ...headersOfPage(style), vary: 'Accept-Language, Cookie' };

/** A link on a page without a script. */
export interface MessageLink {
  readonly to: string;
  readonly text: string;
}

/** Variable parts of a page. */
interface MessageParts {
  /** Replaces `{name}`; untrusted. */
  readonly name?: string;
  readonly links?: readonly MessageLink[];
}

/** Renders a page with a single message, without a script. */
export function messagePage(language: Language, message: Message, { name = '', links = [] }: MessageParts = {}): string {
  const { title, text } = messages[language][message];
  const shown = escapeHtml(text).replace('{name}', () => `<bdi>${escapeHtml(name.slice(0, 200))}</bdi>`);
  const anchors = links.map((link) => `<a href="${escapeHtml(link.to)}">${escapeHtml(link.text)}</a>`).join(' · ');
  return htmlPage({
    language,
    direction: directionOf(language),
    title,
    style,
    content: `<h1>${escapeHtml(title)}</h1><p>${shown}</p>${anchors === '' ? '' : `<p>${anchors}</p>`}`,
  });
}
