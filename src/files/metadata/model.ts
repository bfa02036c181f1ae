import type { Readable } from 'node:stream';
import type { Store } from '../../storage/port.ts';
import type { ByteRange } from '../stores/port.ts';

/** The system whose files are spoken of: `System` of systems/, or what stands for it in a command. */
export interface FileSystem {
  readonly appId: string;
  readonly store: Store;
  /** For who removes files (`SweptSystem.doubtedUntil`). */
  readonly doubtedUntil?: number | null;
}

/** A file as the system's store knows it: a row of `_StoredFile`, whose objectId is the file's id. */
export interface FileRow {
  /** 32 hexadecimal characters, unguessable: the prefix of the name. */
  readonly id: string;
  /** As the upload answered it (docs/decisions.md "Files"). */
  readonly name: string;
  /** Bytes; `null` for a large upload that is awaited. */
  readonly size: number | null;
  /** What it is served as: judged by its bytes, not what the client said. */
  readonly contentType: string;
  /** Names the bytes that were noted, where a form of the store's own may bring others; see `FileStore.open`. */
  readonly version?: string;
  /** Whether a `File` field has ever held it. */
  readonly isPublic: boolean;
  /** Whether a `PrivateFile` field has ever held it. */
  readonly isPrivate: boolean;
  /** When it was uploaded, in milliseconds since 1970. */
  readonly createdAt: number;
  /** When it was uploaded or last attached, in milliseconds since 1970. */
  readonly updatedAt: number;
}

/** A file that is there. */
export type PresentFile = FileRow & { readonly size: number };

/** A file that may be read by who asked for it. */
export interface OpenFile {
  readonly file: PresentFile;
  /** Its bytes, or a range within it; `null` where it was deleted meanwhile. */
  read(range?: ByteRange): Promise<Readable | null>;
}

/** What an upload answers (SPEC "Files"). */
export interface Uploaded {
  readonly name: string;
  readonly url: string;
}

/** What a system's files take (SPEC "Other constraints"). */
export interface StorageUsage {
  readonly files: number;
  readonly bytes: number;
  /** Bytes; `null` where there is no bound. */
  readonly quota: number | null;
  /** Whether no further file is taken: what is used has reached the quota. */
  readonly outOfStorage: boolean;
}
