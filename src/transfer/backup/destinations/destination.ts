import type { Readable } from 'node:stream';
import { parseS3Url } from '../../../config/index.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';

/** A stored backup. */
export interface KeptBackup {
  readonly appId: string;
  /** File name: `YYYYMMDDTHHMMSSZ.rdsb`. */
  readonly name: string;
  readonly bytes: number;
  /** Full address, as passed to `backup verify` and `restore`. */
  readonly file: string;
}

/** A destination of backups, stored as `APP/YYYYMMDDTHHMMSSZ.rdsb`. Reference: backup.md#destinations. */
export interface Destination {
  /** Whether an interrupted write leaves nothing behind, so that it can be repeated. */
  readonly canBeginAgain: boolean;
  /** Whether a backup of this name exists. */
  has(appId: string, name: string): Promise<boolean>;
  /**
   * Stores a backup atomically; it is durable when the promise resolves.
   * @param archive bytes of the backup
   * @param estimatedBytes approximate upper bound of their number
   * @throws the error of the archive stream; errors of the destination
   */
  write(appId: string, name: string, archive: Readable, estimatedBytes: number): Promise<KeptBackup>;
  /** Lists backups, oldest first per system. @param appId restricts the list to one system */
  list(appId?: string): AsyncIterable<KeptBackup>;
  open(kept: Pick<KeptBackup, 'appId' | 'name'>): Promise<Readable>;
  remove(kept: Pick<KeptBackup, 'appId' | 'name'>): Promise<void>;
  close(): void;
}

/**
 * Opens a destination of backups.
 * @param text a folder, or `s3://bucket/prefix?endpoint=…&region=…`
 * @param option name of the option, for messages
 * @throws OperatorError if it is malformed or cannot be reached
 */
export async function openDestination(text: string, option: string): Promise<Destination> {
  if (!isS3(text)) {
    const { FolderDestination } = await import('./folder.ts');
    return new FolderDestination(text);
  }
  const location = parseS3Url(text);
  if (!location) throw malformed(option);
  // Imported on demand: the S3 packages load slowly.
  const { S3Destination } = await import('./s3.ts');
  return S3Destination.open(location, text, option);
}

/**
 * Opens a single backup.
 * @param text a file, an object `s3://bucket/prefix/APP/NAME.rdsb?…`, or `-` for standard input
 * @throws OperatorError; errors of the operating system
 */
export async function openBackupFile(text: string): Promise<Readable> {
  if (text === '-') return process.stdin;
  if (isS3(text)) {
    const location = parseS3Url(text);
    if (!location) throw malformed('FILE');
    const { openObject } = await import('./s3.ts');
    return openObject(location);
  }
  const { openFile } = await import('./folder.ts');
  return openFile(text);
}

const isS3 = (text: string) => text.startsWith('s3:');

const malformed = (option: string) => new OperatorError(`${option}: must be a folder or s3://bucket/prefix?endpoint=…&region=…`);
