import { randomBytes } from 'node:crypto';
import { escapeHtml } from '../../kernel/html.ts';
import { directionOf, type Language } from '../../kernel/language.ts';
import type { BuiltProgram } from '../program/built-program.ts';
import { ICON } from '../program/icon.ts';

/** Parameters of the program's page. */
export interface Shell {
  readonly language: Language;
  /** Path of the console. */
  readonly root: string;
  /** Path of the program's files. */
  readonly assets: string;
  /** The application id, if there is exactly one system. */
  readonly defaultAppId: string | null;
  readonly program: BuiltProgram;
  /** Origins other than the console's own from which files are loaded. */
  readonly fileOrigins: readonly string[];
}

const names: Readonly<Record<Language, { readonly title: string; readonly noScript: string }>> = {
  en: { title: 'Console', noScript: 'The console needs JavaScript.' },
  he: { title: 'מסוף', noScript: 'המסוף זקוק ל־JavaScript.' },
};

/** Renders the page that loads the program, and its headers. The server sets language and direction. */
export function shellPage(shell: Shell): { readonly html: string; readonly headers: Readonly<Record<string, string>> } {
  const { language, root, assets, defaultAppId, program } = shell;
  const nonce = randomBytes(16).toString('base64');
  const settings = JSON.stringify({ language, root, defaultAppId, nonce, build: program.build });
  const { title, noScript } = names[language];
  const html = [
    `<!doctype html><html lang="${language}" dir="${directionOf(language)}"><head><meta charset="utf-8">`,
    '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex">',
    `<meta name="color-scheme" content="light dark"><meta name="console" content="${escapeHtml(settings)}">`,
    `<title>${escapeHtml(title)}</title><link rel="icon" type="image/svg+xml" href="${escapeHtml(`${assets}/${ICON}`)}">`,
    ...program.styles.map((name) => `<link rel="stylesheet" href="${escapeHtml(`${assets}/${name}`)}">`),
    `<script type="module" src="${escapeHtml(`${assets}/${program.script}`)}"></script></head>`,
    `<body><div id="root"></div><noscript>${escapeHtml(noScript)}</noscript></body></html>`,
  ].join('');
  return { html, headers: headersOf(nonce, shell.fileOrigins) };
}

function headersOf(nonce: string, fileOrigins: readonly string[]): Readonly<Record<string, string>> {
  const files = ["'self'", ...fileOrigins].join(' ');
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      `style-src 'self' 'nonce-${nonce}'`,
      `img-src ${files} data: blob:`,
      `media-src ${files}`,
      "font-src 'self'",
      "connect-src 'self'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "object-src 'none'",
      "require-trusted-types-for 'script'",
    ].join('; '),
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
    'cache-control': 'no-store',
    vary: 'Accept-Language, Cookie',
  };
}
