export { parseRules } from './anonymise/index.ts';
export type { CloneEvents } from './clone-records.ts';
export { type ClonedSystem, type CloneRequest, Clones } from './clones.ts';
export type { Extent } from './options.ts';
