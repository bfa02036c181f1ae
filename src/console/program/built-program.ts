import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { MANIFEST } from './location.ts';

/** A file of the program, as sent. */
export interface BuiltFile {
  readonly contentType: string;
  readonly plain: Buffer;
  /** Compressed at build time; omitted if that gains nothing. */
  readonly br?: Buffer;
  readonly gzip?: Buffer;
}

/** The built program of the console, held in memory (less than 2 MB). */
export interface BuiltProgram {
  /** Identifies the build. */
  readonly build: string;
  /** File names. */
  readonly script: string;
  readonly styles: readonly string[];
  readonly files: ReadonlyMap<string, BuiltFile>;
}

const contentTypes: ReadonlyMap<string, string> = new Map([
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.woff2', 'font/woff2'],
  ['.png', 'image/png'],
]);

interface ManifestEntry {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly css?: readonly string[];
}

/** Reads a built program from its directory. @throws ENOENT if there is none */
export async function readProgram(directory: string): Promise<BuiltProgram> {
  const manifest = await readFile(join(directory, MANIFEST), 'utf8');
  const entry = Object.values(JSON.parse(manifest) as Record<string, ManifestEntry>).find(({ isEntry }) => isEntry);
  if (!entry) throw new Error(`${MANIFEST} names no entry`);
  const files = new Map<string, BuiltFile>();
  const names = await readdir(directory);
  for (const name of names) {
    const contentType = contentTypes.get(extname(name));
    if (contentType === undefined) continue;
    const read = (suffix: string) => readFile(join(directory, name + suffix));
    const br = names.includes(`${name}.br`) ? { br: await read('.br') } : {};
    const gzip = names.includes(`${name}.gz`) ? { gzip: await read('.gz') } : {};
    files.set(name, { contentType, plain: await read(''), ...br, ...gzip });
  }
  return { build: hash('sha256', manifest, 'hex').slice(0, 16), script: entry.file, styles: entry.css ?? [], files };
}
