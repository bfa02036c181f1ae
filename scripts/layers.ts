/**
 * Checks the layer rules of `.dependency-cruiser.mjs`, that no folders import each other, and that every source file was examined: without a usable
 * TypeScript parser, dependency-cruiser finds nothing and reports success.
 */
import { globSync } from 'node:fs';
import { dirname } from 'node:path';
import { cruise, type ICruiseResult, type IModule } from 'dependency-cruiser';
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
    ...folderViolations(modules),
    ...files.filter((file) => !scanned.has(file)).map((file) => `not scanned: ${file}`),
    ...files
      .filter((file) => !isPlaced(file))
      .map((file) => `no layer: ${file} (give its folder a place in .dependency-cruiser.mjs)`),
    ...(files.length > 1 && importing === 0 ? ['no import was found in any file: the TypeScript parser is missing'] : []),
  ];
}

/**
 * Finds folders that import each other, directly or indirectly, including type imports, and folders with a single file. Ignores unit tests and
 * fixtures.
 *
 * @returns one line per cycle or folder
 */
function folderViolations(modules: readonly IModule[]): string[] {
  const sources = modules.filter(({ source }) => isSource(source));
  const folders = Object.entries(Object.groupBy(sources, ({ source }) => dirname(source)));
  const imports = new Map(folders.map(([folder]) => [folder, new Set<string>()]));
  for (const { source, dependencies } of sources)
    for (const { resolved } of dependencies) if (isSource(resolved)) imports.get(dirname(source))?.add(dirname(resolved));
  const isLayer = (folder: string) => folder.split('/').length < 3 || layerPatterns.includes(`^${folder}/`);
  const isLone = (folder: string) => !isLayer(folder) && !folders.some(([other]) => other.startsWith(`${folder}/`));
  return [
    ...folders
      .map(([folder]) => cycleFrom(folder, imports))
      .filter((cycle) => cycle !== null)
      .map((cycle) => `folders-in-order: ${cycle.length === 2 ? cycle.join(' <-> ') : [...cycle, cycle[0]].join(' -> ')}`),
    ...folders
      .filter(([folder, files]) => files?.length === 1 && isLone(folder))
      .map(([folder]) => `folder-of-one-file: ${folder}`),
  ];
}

/** Returns the shortest import cycle through a folder. Each cycle is found from its alphabetically first folder. */
function cycleFrom(folder: string, imports: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] | null {
  const paths = [[folder]];
  const seen = new Set<string>();
  for (const path of paths)
    for (const next of imports.get(path.at(-1) ?? folder) ?? []) {
      if (next === folder && path.length > 1) return path;
      if (next <= folder || seen.has(next)) continue;
      seen.add(next);
      paths.push([...path, next]);
    }
  return null;
}

function isSource(file: string): boolean {
  return file.startsWith('src/') && !/[.]test[.]ts$|[/]testing[/]/.test(file);
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
