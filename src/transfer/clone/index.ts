export type { CloneEvents } from './clone-system.ts';
export { type ClonedSystem, type CloneRequest, Clones } from './clones.ts';
export type { Extent } from './shares.ts';
