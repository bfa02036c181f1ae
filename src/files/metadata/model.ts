import type { Readable } from 'node:stream';
import type { Store } from '../../storage/port.ts';
import type { ByteRange } from '../stores/port.ts';

/** A system, as the file functions need it: `System` of systems/, or a substitute in commands. */
export interface FileSystem {
  readonly appId: string;
  readonly store: Store;
  /** For removing files; see `SweptSystem.mayLackRowsUntil`. */
  readonly mayLackRowsUntil?: number | null;
}

/** The metadata of a file: a row of `_StoredFile`, whose objectId is the file's id. */
export interface FileRow {
  /** 32 hexadecimal characters, unguessable: the prefix of the name. */
  readonly id: string;
  /** The name that the upload returned (files.md#upload). */
  readonly name: string;
  /** Bytes; `null` for an awaited large upload. */
  readonly size: number | null;
  /** The type that the file is served as, determined by its bytes, not by the client. */
  readonly contentType: string;
  /** Identifies the recorded bytes, if a form of the store may replace them; see `FileStore.open`. */
  readonly version?: string;
  /** Whether a `File` field has ever held it. */
  readonly isPublic: boolean;
  /** Whether a `PrivateFile` field has ever held it. */
  readonly isPrivate: boolean;
  /** Time of the upload, in milliseconds since 1970. */
  readonly createdAt: number;
  /** Time of the upload or the last attachment, in milliseconds since 1970. */
  readonly updatedAt: number;
}

/** A file whose bytes have arrived. */
export type PresentFile = FileRow & { readonly size: number };

/** A file that the caller may read. */
export interface OpenFile {
  readonly file: PresentFile;
  /** Opens its bytes, or a range; `null` if it was deleted meanwhile. */
  read(range?: ByteRange): Promise<Readable | null>;
}

/** The response to an upload (files.md#upload). */
export interface Uploaded {
  readonly name: string;
  readonly url: string;
}

/** Storage used by a system's files (files.md#storage-quota). */
export interface StorageUsage {
  readonly files: number;
  readonly bytes: number;
  /** Bytes; `null` if there is no limit. */
  readonly quota: number | null;
  /** Whether uploads are refused because the usage has reached the quota. */
  readonly outOfStorage: boolean;
}
