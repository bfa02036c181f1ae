export { parseRules } from './anonymise/index.ts';
export { type ClonedSystem, type CloneRequest, Clones } from './clones.ts';
export type { Extent } from './options.ts';
