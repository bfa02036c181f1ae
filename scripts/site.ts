/**
 * The documentation site (site/, made by VitePress from docs/).
 * Usage: node scripts/site.ts dev [--port N]   serves it on 127.0.0.1 and follows changes
 *        node scripts/site.ts build [folder]   builds it into site/dist, or the folder, and checks the result
 * SITE_BASE is the path under which it will be served, by default `/`.
 */
import { spawnSync } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { builtSiteFindings } from './built-site.ts';
import { ensureInstalled } from './install.mjs';
import { LaunchError, launching, root } from './runtime.mjs';

const siteDir = join(root, 'site');

await launching(async () => {
  const [command, ...args] = process.argv.slice(2);
  const base = process.env.SITE_BASE ?? '/';
  if (!/^\/(?:[^?#]*\/)?$/.test(base)) throw new LaunchError('SITE_BASE: must begin and end with a slash, such as /docs/');
  await ensureInstalled({ folder: siteDir });
  if (command === 'dev') process.exitCode = vitepress(['dev', '--host', '127.0.0.1', ...args]);
  else if (command === 'build') build(resolve(args[0] ?? join(siteDir, 'dist')), base);
  else throw new LaunchError('Usage: node scripts/site.ts dev|build');
});

function build(directory: string, base: string): void {
  const started = performance.now();
  const status = vitepress(['build', '--outDir', directory]);
  if (status !== 0) throw new LaunchError('the site could not be built');
  const findings = builtSiteFindings(directory, base);
  for (const line of findings) console.error(line);
  process.exitCode = findings.length > 0 ? 1 : 0;
  const files = globSync('**/*', { cwd: directory, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  const pages = files.filter(({ name }) => name.endsWith('.html')).length;
  console.log(`${pages} pages, ${(bytes / 1e6).toFixed(1)} MB, ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

function vitepress(args: readonly string[]): number {
  const program = join(siteDir, 'node_modules/vitepress/bin/vitepress.js');
  const { status } = spawnSync(process.execPath, [program, ...args], { cwd: siteDir, stdio: 'inherit' });
  return status ?? 1;
}
