import { hash } from 'node:crypto';

/**
 * Headers of every page: it runs no script, loads nothing, stands in no frame, and leaves neither its address nor itself behind.
 * @param style what stands in its one `style` element
 * @param formsTo where else than to us its forms lead, by way of redirects: sources of a Content-Security-Policy
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
