import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Encrypter } from 'age-encryption';
import { isoText } from '../../kernel/time.ts';
import { serviceVersion } from '../../kernel/version.ts';
import { changesTo } from '../../schema/replay.ts';
import type { Store } from '../../storage/port.ts';
import type { StoreSnapshot } from '../../storage/raw-access.ts';
import type { KeyEntry, SystemEntry } from '../../storage/registry.ts';
import { linesOf } from '../migrate/checksum.ts';
import { partsOf } from '../migrate/copy.ts';
import { archiveOf, type Member } from './archive-writer.ts';
import { addFiles, type FileSource } from './file-parts.ts';
import {
  FORMAT,
  fileName,
  MANIFEST_NAME,
  type Manifest,
  type ManifestPart,
  nameOfPart,
  REGISTRY_NAME,
  SCHEMA_NAME,
} from './manifest.ts';
import { registryText } from './registry-part.ts';
import { schemaText } from './schema-part.ts';
import type { Spool, Spooled } from './spool.ts';

/** A system to be backed up. */
export interface BackupSource {
  readonly entry: SystemEntry;
  readonly keys: readonly KeyEntry[];
  /** Salt of its key hashes. */
  readonly salt: string;
  readonly engine: Manifest['engine'];
  readonly store: Store;
  /** Its files; `null` to leave them out. */
  readonly files: FileSource | null;
}

/** Progress events of a backup. */
export interface BackupEvents {
  /** @param share of all records, from 0 to 1 */
  reading(what: string, records: number, share: number): void;
  /** Bytes of files are being read. */
  readingFiles(files: number): void;
}

/** A backup whose content and checksums are known, ready to be written. */
export class PreparedBackup {
  /** Approximate upper bound of the archive size. */
  readonly estimatedBytes: number;
  /** Number of files that the system knows but that have no bytes. */
  readonly missingFiles: number;
  readonly #contents: readonly Content[];
  readonly #about: Omit<Manifest, 'parts'>;
  readonly #leftOut = new Set<string>();

  constructor(
    about: Omit<Manifest, 'parts'>,
    contents: readonly Content[],
    sizes: { estimatedBytes: number; missingFiles: number },
  ) {
    this.#about = about;
    this.#contents = contents;
    this.estimatedBytes = sizes.estimatedBytes;
    this.missingFiles = sizes.missingFiles;
  }

  get manifest(): Manifest {
    return { ...this.#about, parts: this.#present().map(({ part }) => part) };
  }

  /** Number of files deleted since the snapshot. */
  get deletedFiles(): number {
    return this.#leftOut.size;
  }

  /** Returns the archive; may be called repeatedly. @throws FileGone while it is read: exclude the file and call again */
  archive(encrypter: Encrypter | null): Promise<Readable> {
    const text = Buffer.from(JSON.stringify(this.manifest));
    const first: Member = { name: MANIFEST_NAME, bytes: text.length, read: () => one(text) };
    const rest = this.#present().map(({ part, read }): Member => ({ name: part.name, bytes: part.bytes, read }));
    return archiveOf([first, ...rest], new Date(this.#about.madeAt), encrypter);
  }

  /** Excludes a file. */
  leaveOut(fileId: string): void {
    this.#leftOut.add(fileName(fileId));
  }

  #present(): readonly Content[] {
    return this.#contents.filter(({ part }) => !this.#leftOut.has(part.name));
  }
}

/** Parts in archive order, each with a function that reads its bytes. */
export type Content = { readonly part: ManifestPart; readonly read: Member['read'] };

/**
 * Takes a consistent snapshot of a system and spools it (backup.md#backup). Memory holds at most some thousand records at a time.
 * @throws unavailable; errors of the operating system, e.g. a full disk
 */
export async function prepareBackup(source: BackupSource, spool: Spool, events: BackupEvents): Promise<PreparedBackup> {
  const { entry, keys, salt, engine, store, files } = source;
  const contents: Content[] = [];
  let spooledBytes = 0;
  const add = async (name: string, pieces: AsyncIterable<{ rows: number; text: string }>): Promise<void> => {
    const content = await spooledPart(spool, name, pieces);
    contents.push(content);
    spooledBytes += content.length;
  };
  const { madeAt, ofFiles } = await store.withSnapshot(async (snapshot) => {
    const taken = Date.now();
    const changes = changesTo(snapshot.schema);
    await add(SCHEMA_NAME, whole(schemaText(changes), changes.length));
    await addRecords(snapshot, add, events);
    await add(REGISTRY_NAME, whole(registryText(entry, keys, salt), keys.length));
    return { madeAt: taken, ofFiles: files && (await addFiles(snapshot, files, contents, events.readingFiles)) };
  });
  const about = {
    format: FORMAT,
    version: serviceVersion(),
    engine,
    appId: entry.appId,
    name: entry.name,
    madeAt: isoText(madeAt),
  } as const;
  const estimatedBytes = spooledBytes + (ofFiles?.bytes ?? 0);
  return new PreparedBackup(about, contents, { estimatedBytes, missingFiles: ofFiles?.missing ?? 0 });
}

type Add = (name: string, pieces: AsyncIterable<{ rows: number; text: string }>) => Promise<void>;

async function addRecords(snapshot: StoreSnapshot, add: Add, events: BackupEvents): Promise<void> {
  const parts = partsOf(snapshot.schema);
  let total = 1;
  for (const part of parts) if (part.kind === 'table') total += await snapshot.count(part.table);
  let records = 0;
  for (const part of parts) {
    const counted = async function* () {
      for await (const lines of linesOf(snapshot, part)) {
        yield lines;
        if (part.kind === 'table') records += lines.rows;
        events.reading(part.table.className, records, Math.min(1, records / total));
      }
    };
    await add(nameOfPart(part), counted());
  }
}

async function* whole(text: string, rows: number): AsyncGenerator<{ rows: number; text: string }> {
  yield { rows, text };
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

async function spooledPart(
  spool: Spool,
  name: string,
  pieces: AsyncIterable<{ rows: number; text: string }>,
): Promise<Content & { readonly length: number }> {
  const hash = createHash('sha256');
  let count = 0;
  let bytes = 0;
  const passing = async function* () {
    for await (const { rows, text } of pieces) {
      const chunk = Buffer.from(text);
      hash.update(chunk);
      count += rows;
      bytes += chunk.length;
      yield chunk;
    }
  };
  const spooled: Spooled = await spool.add(passing());
  const part = { name, count, bytes, sha256: hash.digest('hex') };
  return { part, read: () => spool.read(spooled), length: spooled.length };
}
