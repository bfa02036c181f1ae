import type { Readable } from 'node:stream';
import { parseS3Url } from '../../../config/index.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';

/** A backup that is kept somewhere. */
export interface KeptBackup {
  readonly appId: string;
  /** Its name there: `YYYYMMDDTHHMMSSZ.rdsb`. */
  readonly name: string;
  readonly bytes: number;
  /** The whole of where it is, as an operator names it to `backup verify` and `restore`. */
  readonly file: string;
}

/** Where backups are kept: `APP/YYYYMMDDTHHMMSSZ.rdsb` (CONTRACT "Backup and restore"). */
export interface Destination {
  /** Whether what was written in part leaves nothing there, so that it can be written anew. */
  readonly canBeginAgain: boolean;
  /** Whether there is one of this name. */
  has(appId: string, name: string): Promise<boolean>;
  /**
   * Writes one, which is there as a whole or not at all, and durable when this resolves.
   * @param archive its bytes
   * @param estimatedBytes how many that will be at the most, about
   * @throws what the bytes break off with; errors of the place
   */
  write(appId: string, name: string, archive: Readable, estimatedBytes: number): Promise<KeptBackup>;
  /** All of them, the oldest of each system first. @param appId of one system alone */
  list(appId?: string): AsyncIterable<KeptBackup>;
  open(kept: Pick<KeptBackup, 'appId' | 'name'>): Promise<Readable>;
  remove(kept: Pick<KeptBackup, 'appId' | 'name'>): Promise<void>;
  close(): void;
}

/**
 * Opens a place for backups.
 * @param text a folder, or `s3://bucket/prefix?endpoint=…&region=…`
 * @param option how the operator named it, for messages
 * @throws OperatorError where it is malformed or cannot be reached
 */
export async function openDestination(text: string, option: string): Promise<Destination> {
  if (!isS3(text)) {
    const { FolderDestination } = await import('./folder.ts');
    return new FolderDestination(text);
  }
  const location = parseS3Url(text);
  if (!location) throw malformed(option);
  // Its packages take long to load.
  const { S3Destination } = await import('./s3.ts');
  return S3Destination.open(location, text, option);
}

/**
 * Opens one backup.
 * @param text a file; an object `s3://bucket/prefix/APP/NAME.rdsb?…`; `-` for the standard input
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
