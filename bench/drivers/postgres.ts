import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Driver } from './driver.ts';

interface Sql {
  unsafe(text: string, values: unknown[], options: { prepare: boolean }): Promise<unknown[]> & { values(): Promise<unknown[]> };
  begin(work: (sql: Sql) => Promise<unknown>[]): Promise<unknown>;
  end(): Promise<void>;
}

/** The npm package `postgres`, which is not a dependency: resolved through NODE_PATH. Returns `null` if it is not installed. */
export async function postgresPackage(url: string, connections: number): Promise<Driver | null> {
  let path: string;
  try {
    path = createRequire(import.meta.url).resolve('postgres');
  } catch {
    return null;
  }
  const { default: loaded } = await import(pathToFileURL(path).href);
  const sql: Sql = (loaded.default ?? loaded)(url, { max: connections, onnotice: () => {} });
  return {
    name: `postgres, ${connections}`,
    query: (text, values) => sql.unsafe(text, [...values], { prepare: true }).values(),
    transaction: (text, values) => sql.begin((inner) => values.map((each) => inner.unsafe(text, [...each], { prepare: true }))),
    end: () => sql.end(),
  };
}
