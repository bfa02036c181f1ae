export { type Config, loadSettings, type Secrets, type Settings } from './config.ts';
