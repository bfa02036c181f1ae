import type { Readable } from 'node:stream';
import { type BackupReader, type PartReader, readBackup } from './archive-reader.ts';
import { type Manifest, totalsOf } from './manifest.ts';
import { readMembers } from './read-members.ts';

/** Summary of a backup from its manifest. */
export interface BackupSummary extends Omit<Manifest, 'parts'> {
  readonly records: number;
  readonly files: number;
  readonly isEncrypted: boolean;
}

type BytesRead = (what: string, bytes: number, of: number) => void;

/**
 * Reads a whole backup and verifies its checksums and its members as a restore would. Reference: backup.md#verify.
 * @param read called with the number of bytes read so far, out of `of`
 * @throws OperatorError naming the part that is damaged, missing or unknown; errors of the source
 */
export async function verifyBackup(source: Readable, identities: readonly string[], read: BytesRead): Promise<BackupSummary> {
  const reader = await readBackup(source, identities);
  try {
    await readMembers(countingBytes(reader, read), reader.manifest.appId, { schema: async () => {}, rows: drain, file: drain });
    return summaryOf(reader.manifest, reader.isEncrypted);
  } finally {
    reader.close();
  }
}

async function drain({ bytes }: PartReader): Promise<void> {
  for await (const _ of bytes);
}

/** The parts of a backup, with progress reported as they are read. */
async function* countingBytes({ manifest, parts }: BackupReader, read: BytesRead): AsyncGenerator<PartReader> {
  const of = manifest.parts.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  for await (const { part, bytes } of parts()) {
    const counted = async function* () {
      for await (const chunk of bytes) {
        done += chunk.length;
        read(part.name, done, of);
        yield chunk;
      }
    };
    yield { part, bytes: counted() };
  }
}

/** Returns the summary of a backup without reading its parts. @throws as `readBackup` */
export async function summariseBackup(source: Readable, identities: readonly string[]): Promise<BackupSummary> {
  const reader = await readBackup(source, identities);
  reader.close();
  return summaryOf(reader.manifest, reader.isEncrypted);
}

function summaryOf(manifest: Manifest, isEncrypted: boolean): BackupSummary {
  const { parts: _, ...about } = manifest;
  return { ...about, ...totalsOf(manifest), isEncrypted };
}
