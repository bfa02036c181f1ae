export { Addresses, type FileAddresses } from './addresses.ts';
export { type BackupSettings, type Config, loadSettings, type Secrets, type Settings } from './config.ts';
export { expectedInstallation, INSTALLATION } from './env.ts';
export { parseS3Url, type S3Location } from './files-url.ts';
export { parseRetention, type Retention } from './retention.ts';
export type { TracingSettings } from './tracing.ts';
