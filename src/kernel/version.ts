import { readFileSync } from 'node:fs';

/** The published package; sources and the built program are equally deep in it. */
const packageFile = new URL('../../package.json', import.meta.url);

let known: string | undefined;

/** Returns the version of the service. */
export function serviceVersion(): string {
  known ??= (JSON.parse(readFileSync(packageFile, 'utf8')) as { readonly version: string }).version;
  return known;
}
