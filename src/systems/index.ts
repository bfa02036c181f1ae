export { Administration, type StoreState, type SystemCredentials } from './administration.ts';
export { Deletions } from './deletions.ts';
export { KeyGuard } from './key-guard.ts';
export { openStore } from './migrations/index.ts';
export { type Credentials, System } from './system.ts';
export { Systems } from './systems.ts';
export { readTableDefaults } from './template.ts';
export { Upkeep } from './upkeep.ts';
