import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { FunctionImporter } from '../importer.ts';
import { FunctionLoader } from '../loader.ts';
import { heardLog } from './heard-log.ts';

const made: string[] = [];
after(() => {
  for (const directory of made) rmSync(directory, { recursive: true });
});

/** Creates a directory with these files, removed after the tests. */
export function directoryWith(files: Record<string, string>): string {
  const directory = mkdtempSync(join(tmpdir(), 'rds-functions-'));
  made.push(directory);
  write(directory, files);
  return directory;
}

/** Writes files into a directory, creating subdirectories. */
export function write(directory: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(directory, name, '..'), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
}

/** A loader of a directory, and its log. @param timeLimit milliseconds */
export function loading(directory: string, timeLimit = 2_000) {
  const { log, heard, text } = heardLog();
  const importer = new FunctionImporter(directory, timeLimit);
  const loader = new FunctionLoader({
    directory,
    log,
    isReserved: (name) => name === 'getlead',
    load: (name, file) => importer.load(name, file),
  });
  /** Returns the result of a function without input. */
  const answer = async (name: string): Promise<unknown> => {
    const loaded = await loader.find(name);
    const answered = loaded && (loaded.run as () => unknown)();
    for (const noted of importer.files()) loader.noteFiles(...noted);
    return answered;
  };
  return { loader, heard, text, answer };
}
