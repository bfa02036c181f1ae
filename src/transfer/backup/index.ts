export { encrypterFor } from './archive-writer.ts';
export { Backups } from './backups.ts';
export { type Destination, type KeptBackup, openBackupFile, openDestination } from './destinations/destination.ts';
export { timeOfBackup } from './destinations/names.ts';
export { StreamDestination } from './destinations/stream.ts';
export type { MadeBackup } from './make-backup.ts';
export type { RestoredBackup } from './restore-backup.ts';
export { keptOf, retentionFrom } from './retention.ts';
export { type BackupSummary, summariseBackup, verifyBackup } from './verify-backup.ts';
