export { type Config, loadSettings, type Secrets } from './config.ts';
