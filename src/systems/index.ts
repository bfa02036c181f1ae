export { Administration } from './administration.ts';
export { Deletions } from './deletions.ts';
export type { StoreState } from './inspection.ts';
export { Upkeep } from './maintenance.ts';
export { openStore } from './migrations/index.ts';
export type { SystemCredentials } from './new-entry.ts';
export { type Credentials, KeyGuard, System } from './system.ts';
export { Systems } from './systems.ts';
export { readTableDefaults } from './template/template.ts';
