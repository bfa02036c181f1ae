export { Administration, type SystemCredentials } from './administration.ts';
export { type Credentials, System } from './system.ts';
export { Systems } from './systems.ts';
