/**
 * Every check that needs no running service. Runs all steps, shows the output of those that fail, and what the others skipped.
 * Usage: npm run check [-- step ...], or npm run fix for what can be corrected automatically.
 */
import { spawnSync } from 'node:child_process';

const biome = 'node_modules/@biomejs/biome/bin/biome';

/** The Node arguments of each step. */
const checks = new Map([
  ['lint', [biome, 'check', '--max-diagnostics=50', '.']],
  ['types', ['node_modules/@typescript/native/bin/tsc', '--noEmit']],
  ['console types', ['node_modules/@typescript/native/bin/tsc', '--noEmit', '--project', 'console']],
  ['client types', ['node_modules/@typescript/native/bin/tsc', '--noEmit', '--project', 'client']],
  ['site types', ['node_modules/@typescript/native/bin/tsc', '--noEmit', '--project', 'site']],
  ['layers', ['scripts/layers.ts']],
  ['unused', ['node_modules/knip/bin/knip.js', '--no-progress']],
  ['sources', ['scripts/sources.ts']],
  ['mentions', ['scripts/mentions.ts']],
  ['reference', ['scripts/reference.ts']],
  ['prose', ['scripts/prose.ts']],
  ['translations', ['scripts/translations.ts']],
  ['lock', ['scripts/lock.ts']],
  ['site', ['scripts/site.ts', 'build', 'node_modules/.cache/site']],
]);

const fixes = new Map([
  ['lint', [biome, 'check', '--write', '.']],
  ['reference', ['scripts/reference.ts', '--fix']],
  ['lock', ['scripts/lock.ts', '--fix']],
]);

const wanted = process.argv.slice(2).filter((arg) => arg !== '--fix');
const steps = process.argv.includes('--fix') ? fixes : checks;
const unknown = wanted.filter((name) => !steps.has(name));
if (unknown.length > 0) {
  console.error(`Unknown step ${unknown.join(', ')}; there are ${[...steps.keys()].join(', ')}.`);
  process.exit(2);
}

const failed: string[] = [];
for (const [name, args] of steps) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const started = performance.now();
  const { status, error, stdout, stderr } = spawnSync(process.execPath, [...process.execArgv, ...args], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const passed = status === 0;
  console.log(`${passed ? '✔' : '✖'} ${name} (${Math.round(performance.now() - started)} ms)`);
  if (passed) {
    for (const line of stdout.split('\n')) if (line.startsWith('Skipped')) console.log(`  ${line}`);
    continue;
  }
  failed.push(name);
  console.log(`${stdout}${stderr}${error?.message ?? ''}`.trim());
}
if (failed.length > 0) {
  console.log(`\n${failed.length} of the checks failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}
