/** What `import … from 'record-data-service'` gives: the TypeScript sources in a clone, the built JavaScript in the published package. */
import { existsSync } from 'node:fs';

const sources = new URL('./src/index.ts', import.meta.url);
const built = new URL('./dist/index.js', import.meta.url);
/** @type {typeof import('./src/index.ts')} */
const library = await import((existsSync(sources) ? sources : built).href);

export const { defineFunction, z } = library;
