import { escapeHtml, headersOfPage, htmlPage } from '../../kernel/html.ts';
import { directionOf, type Language } from '../../kernel/language.ts';
import { type DeadEnd, texts } from './texts.ts';

const style = [
  ':root{color-scheme:light dark;--back:#f4f5f7;--card:#fff;--text:#1b1f24;--dim:#4a5361;--line:#d5d9e0;--field:#6b7482}',
  ':root{--main:#1a4fa3;--on:#fff;--bad:#c62828;--badback:#fdecea;--ring:#b25f00}',
  '@media(prefers-color-scheme:dark){:root{--back:#14171b;--card:#1e2227;--text:#e8eaed;--dim:#a9b1bc;--line:#3a4049;--field:#8b95a3}',
  ':root{--main:#8ab4f8;--on:#10213d;--bad:#f28b82;--badback:#3a2120;--ring:#ffc46b}}',
  'body{margin:0;background:var(--back);color:var(--text);font:17px/1.5 system-ui,sans-serif}',
  'main{box-sizing:border-box;width:calc(100% - 2rem);max-width:30rem;margin:6vh auto;padding:1.75rem}',
  'main{background:var(--card);border:1px solid var(--line);border-radius:12px}',
  'header{display:flex;justify-content:space-between;gap:1rem;margin-bottom:1.25rem;color:var(--dim);font-size:.9rem}',
  'h1{margin:0 0 .75rem;font-size:1.35rem;line-height:1.3}',
  'p,ul,fieldset{margin:0 0 1rem}',
  'a{color:var(--main)}',
  'bdi{overflow-wrap:anywhere}',
  '.about{margin-bottom:1rem;padding:.75rem 1rem;border:1px solid var(--line);border-radius:8px;font-size:.95rem}',
  '.about p{margin:0}.about p+p{margin-top:.35rem;color:var(--dim)}',
  '[role=alert]{margin-bottom:1rem;padding:.75rem 1rem;border:1px solid var(--bad);border-radius:8px;background:var(--badback)}',
  '[role=alert]:empty{display:none}',
  'label{display:block;margin-bottom:.35rem;font-weight:600}',
  'input:not([type=checkbox]),button{box-sizing:border-box;width:100%;padding:.7rem .8rem;border-radius:8px;font:inherit}',
  'input:not([type=checkbox]){margin-bottom:1rem;border:1px solid var(--field);background:var(--card);color:inherit}',
  'fieldset{padding:0;border:0}legend{padding:0;margin-bottom:.5rem;font-weight:600}',
  '.choice{display:flex;gap:.75rem;align-items:start;margin:0;padding:.7rem 0;border-top:1px solid var(--line);font-weight:normal}',
  '.choice input{flex:none;width:1.25rem;height:1.25rem;margin:.15rem 0 0;accent-color:var(--main)}',
  '.choice strong,.choice small{display:block}.choice small{color:var(--dim);font-size:.87rem}',
  '.no{color:var(--dim)}',
  'button{border:1px solid var(--main);background:var(--main);color:var(--on);font-weight:600;cursor:pointer}',
  'button+button,button.plain{margin-top:.6rem;background:transparent;color:var(--main)}',
  'button.link{width:auto;margin:0;padding:0;border:0;background:none;color:var(--main)}',
  'button.link{font-weight:normal;text-decoration:underline}',
  '.small{color:var(--dim);font-size:.87rem}',
  ':focus-visible{outline:3px solid var(--ring);outline-offset:2px}',
].join('');

/** Headers of every page. @param formsTo as `headersOfPage` takes it */
export const pageHeaders = (formsTo: readonly string[] = []): Readonly<Record<string, string>> => ({
  ...headersOfPage(style, formsTo),
  vary: 'Accept-Language',
});

/**
 * The sources that let a form's redirects through to a client. Browsers hold the whole chain to `form-action`, and a client may go on from
 * its own address to another one.
 * @param redirectUri an address that the client has registered
 */
export function redirectSources(redirectUri: string): readonly string[] {
  const url = URL.parse(redirectUri);
  if (!url) return [];
  if (url.protocol === 'https:') return ['https:'];
  if (url.protocol !== 'http:') return ['https:', url.protocol];
  // No source can name an IPv6 address.
  return ['https:', url.hostname.startsWith('[') ? 'http:' : url.origin];
}

/** What stands around the content of a page. */
export interface Frame {
  readonly language: Language;
  /** The system's name; none where it is not known. */
  readonly system?: string | undefined;
  readonly title: string;
  /** Whether the page can be shown in the other language by `?lang` of its own address. */
  readonly hasSwitch: boolean;
}

const otherLanguage = { he: { to: 'en', name: 'English' }, en: { to: 'he', name: 'עברית' } } as const;

/** @param content HTML */
export function page({ language, system = '', title, hasSwitch }: Frame, content: string): string {
  const { to, name } = otherLanguage[language];
  const link = `<a href="?lang=${to}" lang="${to}" dir="${directionOf(to)}" hreflang="${to}">${name}</a>`;
  return htmlPage({
    language,
    direction: directionOf(language),
    title: system === '' ? title : `${title} · ${system}`,
    style,
    content: `<header><bdi>${escapeHtml(system)}</bdi>${hasSwitch ? link : ''}</header><h1>${escapeHtml(title)}</h1>${content}`,
  });
}

/** Text from outside, as it stands in a sentence of another direction. */
export const isolated = (text: string): string => `<bdi>${escapeHtml(text)}</bdi>`;

/** What went wrong, told at once by a screen reader; an empty place for it where nothing did. */
export const alert = (text: string | undefined): string =>
  `<div role="alert" aria-live="assertive" id="fault">${text === undefined ? '' : escapeHtml(text)}</div>`;

/**
 * A page that says why it does not go on.
 * @param detail what the program did wrong, for who writes it
 */
export function deadEndPage(language: Language, why: DeadEnd, detail?: string): string {
  const [title, text] = texts[language].ends[why];
  const technical = detail === undefined ? '' : `<p class="small" lang="en" dir="ltr"><code>${escapeHtml(detail)}</code></p>`;
  return page({ language, title, hasSwitch: false }, `<div role="alert">${escapeHtml(text)}</div>${technical}`);
}
