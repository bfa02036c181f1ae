import { Readable } from 'node:stream';
import { constants, createZstdCompress } from 'node:zlib';
import type { Encrypter } from 'age-encryption';
import { type Pack, pack } from 'tar-stream';
import { OperatorError } from '../../kernel/operator-error.ts';

/** A good ratio at a rate that no disk holds back. */
const LEVEL = 1;

/** A member of an archive whose size is known. */
export interface Member {
  readonly name: string;
  readonly bytes: number;
  read(): AsyncIterable<Buffer>;
}

/** Whom an archive is encrypted for; nobody where it is empty. @throws OperatorError for what is no recipient of age */
export async function encrypterFor(recipients: readonly string[]): Promise<Encrypter | null> {
  if (recipients.length === 0) return null;
  // Loaded where it is used.
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
 * A tar in zstd, in age where there is an encrypter (CONTRACT "Backup and restore").
 * @param modifiedAt of its members
 * @returns the bytes; a member that fails breaks them off with its error
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
  // Ended with bytes that still wait to be compressed, Node writes an empty frame behind them, of which a reader does not see where it ends.
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
