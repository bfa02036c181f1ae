import type { Readable } from 'node:stream';
import { readBackup } from './archive-reader.ts';
import { type Manifest, totalsOf } from './manifest.ts';

/** What a backup says of itself. */
export interface BackupSummary extends Omit<Manifest, 'parts'> {
  readonly records: number;
  readonly files: number;
  readonly isEncrypted: boolean;
}

/**
 * Reads all of a backup and holds it against its checksums.
 * @param read told of the bytes read so far, of so many
 * @throws OperatorError that names the part which is broken; errors of the source
 */
export async function verifyBackup(
  source: Readable,
  identities: readonly string[],
  read: (what: string, bytes: number, of: number) => void,
): Promise<BackupSummary> {
  const reader = await readBackup(source, identities);
  try {
    const of = reader.manifest.parts.reduce((sum, { bytes }) => sum + bytes, 0);
    let done = 0;
    for await (const { part, bytes } of reader.parts())
      for await (const chunk of bytes) {
        done += chunk.length;
        read(part.name, done, of);
      }
    return summaryOf(reader.manifest, reader.isEncrypted);
  } finally {
    reader.close();
  }
}

/** What the beginning of a backup says. @throws as `readBackup` */
export async function summariseBackup(source: Readable, identities: readonly string[]): Promise<BackupSummary> {
  const reader = await readBackup(source, identities);
  reader.close();
  return summaryOf(reader.manifest, reader.isEncrypted);
}

function summaryOf(manifest: Manifest, isEncrypted: boolean): BackupSummary {
  const { parts: _, ...about } = manifest;
  return { ...about, ...totalsOf(manifest), isEncrypted };
}
