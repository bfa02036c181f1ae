import { readFileSync } from 'node:fs';

/** As it is published; the sources and the built program lie equally deep in the package. */
const packageFile = new URL('../../package.json', import.meta.url);

let known: string | undefined;

/** The version of the service. */
export function serviceVersion(): string {
  known ??= (JSON.parse(readFileSync(packageFile, 'utf8')) as { readonly version: string }).version;
  return known;
}
