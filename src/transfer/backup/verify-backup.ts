import type { Readable } from 'node:stream';
import { type BackupReader, type PartReader, readBackup } from './archive-reader.ts';
import { type Manifest, totalsOf } from './manifest.ts';
import { readMembers } from './read-members.ts';

/** What a backup says of itself. */
export interface BackupSummary extends Omit<Manifest, 'parts'> {
  readonly records: number;
  readonly files: number;
  readonly isEncrypted: boolean;
}

type BytesRead = (what: string, bytes: number, of: number) => void;

/**
 * Reads all of a backup and holds it against its checksums, and against what a restore asks of its members.
 * @param read told of the bytes read so far, of so many
 * @throws OperatorError that names the part which is broken, missing or unknown; errors of the source
 */
export async function verifyBackup(source: Readable, identities: readonly string[], read: BytesRead): Promise<BackupSummary> {
  const reader = await readBackup(source, identities);
  try {
    await readMembers(telling(reader, read), reader.manifest.appId, { schema: async () => {}, rows: toItsEnd, file: toItsEnd });
    return summaryOf(reader.manifest, reader.isEncrypted);
  } finally {
    reader.close();
  }
}

async function toItsEnd({ bytes }: PartReader): Promise<void> {
  for await (const _ of bytes);
}

/** The parts of a backup, whose bytes are counted as they are read. */
async function* telling({ manifest, parts }: BackupReader, read: BytesRead): AsyncGenerator<PartReader> {
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
