/** Builds the published package in dist: JavaScript, type declarations, and the files that the code reads next to itself. */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

rmSync('dist', { recursive: true, force: true });
const compiler = ['node_modules/@typescript/native/bin/tsc', '--project', 'tsconfig.build.json'];
const { status } = spawnSync(process.execPath, compiler, { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

// The compiler rewrites extensions in imports only, but worker threads are started by URL.
for (const file of globSync('dist/**/*.js')) {
  const text = readFileSync(file, 'utf8');
  const rewritten = text.replace(/(new URL\(\s*['"]\.{1,2}\/[^'"]+)\.ts(['"]\s*,\s*import\.meta\.url)/g, '$1.js$2');
  if (rewritten !== text) writeFileSync(file, rewritten);
}
for (const file of globSync('src/**/*.{json,html,css,svg,sql}')) cpSync(file, file.replace(/^src/, 'dist'));
const { status: consoleStatus } = spawnSync(process.execPath, ['scripts/build-console.ts', 'dist/browser'], { stdio: 'inherit' });
if (consoleStatus !== 0) process.exit(consoleStatus ?? 1);
console.log(`dist: ${globSync('dist/**/*.js').length} modules`);
