import { Readable } from 'node:stream';
import { constants, createZstdCompress } from 'node:zlib';
import type { Encrypter } from 'age-encryption';
import { type Pack, pack } from 'tar-stream';
import { OperatorError } from '../../kernel/operator-error.ts';

/** Good ratio, and fast enough that the disk remains the bottleneck. */
const LEVEL = 1;

/** A member of an archive, of known size. */
export interface Member {
  readonly name: string;
  readonly bytes: number;
  read(): AsyncIterable<Buffer>;
}

/** Returns an encrypter for age recipients, or `null` if there are none. @throws OperatorError for an invalid recipient */
export async function encrypterFor(recipients: readonly string[]): Promise<Encrypter | null> {
  if (recipients.length === 0) return null;
  // Imported on demand: it is rarely needed.
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const recipient of recipients)
    try {
      encrypter.addRecipient(recipient);
    } catch {
      throw new OperatorError(`${JSON.stringify(recipient.slice(0, 80))} is no recipient of age: it begins with age1`);
    }
  return encrypter;
}

/**
 * Returns a tar archive compressed with zstd and, given an encrypter, encrypted with age. Reference: backup.md#format-of-a-backup.
 * @param modifiedAt time stamp of the members
 * @returns the bytes; an error of a member destroys the stream
 */
export async function archiveOf(members: readonly Member[], modifiedAt: Date, encrypter: Encrypter | null): Promise<Readable> {
  const archive = pack();
  const compress = createZstdCompress({
    params: { [constants.ZSTD_c_compressionLevel]: LEVEL, [constants.ZSTD_c_checksumFlag]: 1 },
  });
  const tar = Readable.from(archive, { objectMode: false });
  const failed = (error: unknown) => compress.destroy(error instanceof Error ? error : new Error(String(error)));
  tar.once('error', failed);
  addMembers(archive, members, modifiedAt).catch((error) => {
    failed(error);
    archive.destroy();
  });
  compress.once('close', () => archive.destroy());
  const compressed = tar.pipe(compress, { end: false });
  // If `end` is called while bytes are still being compressed, Node appends an empty frame, and readers misjudge where the archive ends.
  tar.once('end', () => compress.write(Buffer.alloc(0), () => compress.end()));
  if (!encrypter) return compressed;
  const encrypted = await encrypter.encrypt(Readable.toWeb(compressed) as ReadableStream<Uint8Array>);
  return Readable.fromWeb(encrypted as Parameters<typeof Readable.fromWeb>[0]);
}

async function addMembers(archive: Pack, members: readonly Member[], modifiedAt: Date): Promise<void> {
  for (const { name, bytes, read } of members) {
    const written = Promise.withResolvers<void>();
    const entry = archive.entry({ name, size: bytes, mode: 0o600, mtime: modifiedAt }, (error) =>
      error ? written.reject(error) : written.resolve(),
    );
    written.promise.catch(() => {});
    for await (const chunk of read())
      if (!entry.write(chunk))
        await Promise.race([new Promise<void>((resolve) => entry.once('drain', () => resolve())), written.promise]);
    entry.end(null);
    await written.promise;
  }
  archive.finalize();
}
