export { Addresses, type FileAddresses } from './addresses.ts';
export { type Config, loadSettings, type Secrets, type Settings } from './config.ts';
export type { S3Location } from './files-url.ts';
