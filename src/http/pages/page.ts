import { catalogue } from '../../errors/catalogue.ts';
import { escapeHtml, headersOfPage, htmlPage } from '../../kernel/html.ts';
import { limits } from '../../kernel/limits.ts';

const style = [
  'body{margin:0;background:#f4f5f7;color:#1b1f24;font:17px/1.5 system-ui,sans-serif}',
  'main{box-sizing:border-box;width:calc(100% - 2rem);max-width:30rem;margin:8vh auto;padding:2rem 2rem 1rem}',
  'main{background:#fff;border:1px solid #d5d9e0;border-radius:10px}',
  'h1{margin:0 0 1rem;font-size:1.35rem}',
  'h1 span{display:block;font-size:.8em;font-weight:normal}',
  'p{margin:0 0 1rem}',
  '[lang=en]{color:#4a5361}',
  '[role=alert]{padding:.75rem 1rem;border:1px solid #c62828;border-radius:6px;background:#fdecea}',
  '[role=alert] p{margin:0}',
  '[role=alert],form{margin-bottom:1rem}',
  'label{display:block;margin-bottom:.35rem;font-weight:600}',
  'label span,button span{font-weight:normal}',
  'input,button{box-sizing:border-box;width:100%;padding:.65rem .75rem;border-radius:6px;font:inherit}',
  'input{margin-bottom:1rem;border:1px solid #6b7482}',
  'button{border:0;background:#1a4fa3;color:#fff;font-weight:600;cursor:pointer}',
  'button [lang=en]{color:inherit}',
  ':focus-visible{outline:3px solid #f2a900;outline-offset:2px}',
].join('');

/** Headers of every page. The page may send its form to this service only. */
export const pageHeaders = headersOfPage(style);

/** A text in both languages of the pages. */
export interface Bilingual {
  readonly he: string;
  readonly en: string;
}

/** Renders a page in Hebrew, with English below. @param content HTML */
export function page(title: Bilingual, content: string): string {
  return htmlPage({
    language: 'he',
    direction: 'rtl',
    title: `${title.he} · ${title.en}`,
    style,
    content: `<h1>${escapeHtml(title.he)} <span lang="en" dir="ltr">${escapeHtml(title.en)}</span></h1>${content}`,
  });
}

/** Renders a text in both languages as paragraphs. */
export function paragraphs({ he, en }: Bilingual): string {
  return `<p>${escapeHtml(he)}</p><p lang="en" dir="ltr">${escapeHtml(en)}</p>`;
}

const megabytes = limits.fileBytes / 1024 / 1024;

/** The answer to a file that is too large (413). Reference: errors.md#answers-without-a-code. */
export const tooLargePage = page(
  { he: 'הקובץ גדול מדי', en: 'The file is too large' },
  `<div role="alert">${paragraphs({
    he: `אפשר להעלות בבקשה אחת קובץ של עד ${megabytes} מגה־בייט.`,
    en: `${catalogue.fileTooLarge.text()} One request takes up to ${megabytes} MB.`,
  })}</div>`,
);
