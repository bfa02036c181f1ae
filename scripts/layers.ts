/**
 * Checks the layer rule of `.dependency-cruiser.mjs`, and that every source file was really looked at: a cruise without a
 * usable TypeScript parser finds nothing and reports success.
 */
import { globSync } from 'node:fs';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import configuration, { layerPatterns } from '../.dependency-cruiser.mjs';

/**
 * Cruises the folder `src` of a directory.
 *
 * @param baseDir the directory that holds `src`, absolute.
 * @returns one line per violation; empty when the rule holds.
 */
export async function layerViolations(baseDir: string): Promise<string[]> {
  const { options, forbidden } = configuration;
  const { output } = await cruise(['src'], { ...options, baseDir, validate: true, ruleSet: { forbidden: forbidden ?? [] } });
  const { modules, summary } = output as ICruiseResult;
  const scanned = new Set(modules.map((module) => module.source));
  const files = globSync('src/**/*.ts', { cwd: baseDir }).map((file) => file.replaceAll('\\', '/'));
  const importing = modules.filter((module) => module.dependencies.length > 0).length;
  return [
    ...summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`),
    ...files.filter((file) => !scanned.has(file)).map((file) => `not scanned: ${file}`),
    ...files
      .filter((file) => !isPlaced(file))
      .map((file) => `no layer: ${file} (give its folder a place in .dependency-cruiser.mjs)`),
    ...(files.length > 1 && importing === 0 ? ['no import was found in any file: the TypeScript parser is missing'] : []),
  ];
}

function isPlaced(file: string): boolean {
  return layerPatterns.some((layer) => new RegExp(layer).test(file));
}

if (import.meta.main) {
  const violations = await layerViolations(process.cwd());
  for (const line of violations) console.error(line);
  const count = globSync('src/**/*.ts').length;
  console.log(`${count} source files, ${violations.length} violations`);
  process.exitCode = violations.length > 0 ? 1 : 0;
}
