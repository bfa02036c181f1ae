/** Pages without inline scripts, so that a Content-Security-Policy of `script-src 'self'` can be sent with them. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SCRIPT = /<script id="([\w-]+)">(.*?)<\/script>/gs;

/**
 * Writes each inline script with an id to a file in `assets/`, and names that file in its place.
 *
 * @param html a built page.
 * @param outDir the folder of the site.
 * @param base the path under which the site is served, with slashes around it.
 */
export function withoutInlineScripts(html: string, outDir: string, base: string): string {
  return html.replace(SCRIPT, (_, id: string, script: string) => {
    const hash = createHash('sha256').update(script).digest('hex').slice(0, 8);
    const file = `assets/${id}.${hash}.js`;
    mkdirSync(join(outDir, 'assets'), { recursive: true });
    writeFileSync(join(outDir, file), script);
    return `<script src="${base}${file}"></script>`;
  });
}
