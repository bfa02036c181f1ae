import { hash } from 'node:crypto';

const entities: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

/** Escapes text for use between tags, or inside a quoted attribute, of an HTML page. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities.get(character) as string);
}

/**
 * Returns the headers of every page: it runs no script, loads nothing, cannot be framed, sends no Referer and is not cached.
 * @param style the content of its one `style` element
 * @param formsTo further targets of its forms, by redirects: sources of a Content-Security-Policy
 */
export function headersOfPage(style: string, formsTo: readonly string[] = []): Readonly<Record<string, string>> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': [
      "default-src 'none'",
      `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
      `form-action ${["'self'", ...formsTo].join(' ')}`,
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ].join('; '),
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
}

/** The parts of an HTML page. */
export interface PageParts {
  readonly language: string;
  readonly direction: 'rtl' | 'ltr';
  /** Plain text. */
  readonly title: string;
  readonly style: string;
  /** HTML inside `main`. */
  readonly content: string;
}

/** Returns a page with one `style` element, which `headersOfPage` permits. */
export function htmlPage({ language, direction, title, style, content }: PageParts): string {
  return [
    `<!doctype html><html lang="${language}" dir="${direction}"><head><meta charset="utf-8">`,
    '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex">',
    `<title>${escapeHtml(title)}</title><style>${style}</style></head>`,
    `<body><main>${content}</main></body></html>`,
  ].join('');
}
