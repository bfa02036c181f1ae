/** Copies the pages to their places, because VitePress takes addresses and languages from the places of files. */
import { cpSync, mkdirSync, rmSync, watch } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Page, placeOf } from './pages.ts';

/** Replaces what is in the folder by the pages. */
export function stage(baseDir: string, folder: string, pages: readonly Page[]): void {
  rmSync(folder, { recursive: true, force: true });
  for (const { source, place } of pages) copy(join(baseDir, source), join(folder, place));
}

/** Copies a page again when it changes. A page that is added appears after a restart. */
export function keepStaged(baseDir: string, folder: string, pages: readonly Page[]): void {
  const sources = new Set(pages.map(({ source }) => source));
  for (const watched of ['docs', 'site/pages'])
    watch(join(baseDir, watched), { recursive: true }, (_, name) => {
      const source = `${watched}/${name?.replaceAll('\\', '/')}`;
      if (sources.has(source)) copy(join(baseDir, source), join(folder, placeOf(source)));
    }).unref();
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
}
