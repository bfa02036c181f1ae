export { type Config, loadSettings, parseSettings, type Secrets, type Settings } from './config.ts';
export { ConfigError } from './error.ts';
