import { escapeHtml, headersOfPage, htmlPage } from '../../kernel/html.ts';
import { directionOf, type Language } from '../../kernel/language.ts';
import { type SignInError, texts } from './texts.ts';

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

/** Headers of every page. @param formsTo see `headersOfPage` */
export const pageHeaders = (formsTo: readonly string[] = []): Readonly<Record<string, string>> => ({
  ...headersOfPage(style, formsTo),
  vary: 'Accept-Language',
});

/**
 * Returns the CSP sources that let a form's redirect reach a client. Browsers apply `form-action` to the whole redirect chain, and a client may
 * redirect further.
 * @param redirectUri a registered redirect URI
 */
export function redirectSources(redirectUri: string): readonly string[] {
  const url = URL.parse(redirectUri);
  if (!url) return [];
  if (url.protocol === 'https:') return ['https:'];
  if (url.protocol !== 'http:') return ['https:', url.protocol];
  // CSP sources cannot express an IPv6 address.
  return ['https:', url.hostname.startsWith('[') ? 'http:' : url.origin];
}

/** The frame of a page. */
export interface Frame {
  readonly language: Language;
  /** The system's name; omitted if unknown. */
  readonly system?: string | undefined;
  readonly title: string;
  /** Whether `?lang` at the same URL shows the page in the other language. */
  readonly hasSwitch: boolean;
}

const otherLanguage = { he: { to: 'en', name: 'English' }, en: { to: 'he', name: 'עברית' } } as const;

/** Renders a page. @param content HTML */
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

/** Returns untrusted text as HTML, isolated from the direction of the sentence. */
export const isolated = (text: string): string => `<bdi>${escapeHtml(text)}</bdi>`;

/** Returns an alert that screen readers announce; empty if there is no error. */
export const alert = (text: string | undefined): string =>
  `<div role="alert" aria-live="assertive" id="fault">${text === undefined ? '' : escapeHtml(text)}</div>`;

/** Renders a page that ends the sign-in with an error. @param detail the program's mistake, for its developer */
export function errorPage(language: Language, why: SignInError, detail?: string): string {
  const [title, text] = texts[language].ends[why];
  const technical = detail === undefined ? '' : `<p class="small" lang="en" dir="ltr"><code>${escapeHtml(detail)}</code></p>`;
  return page({ language, title, hasSwitch: false }, `<div role="alert">${escapeHtml(text)}</div>${technical}`);
}
