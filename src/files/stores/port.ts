import type { Readable } from 'node:stream';

/** Suffix of files that are being received (`temporaryName`). */
export const INCOMING_END = 'part';

/** Received bytes in a synced temporary file of this process, until a store takes them over or they are discarded. */
export interface ReceivedFile {
  /** Absolute path. */
  readonly path: string;
  readonly size: number;
  /** The first bytes, at most `SAMPLE_BYTES`. */
  readonly sample: Buffer;
  /** Deletes the file, unless a store has taken it over. Never throws. */
  discard(): Promise<void>;
}

/** A range of bytes, starting at 0; both ends are included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** What a store knows of one file. */
export interface StoredObject {
  readonly id: string;
  readonly size: number;
  /** When its bytes were stored, in milliseconds since 1970. */
  readonly storedAt: number;
  /** Identifies these bytes, if a form of the store may replace them; missing in results of `list`. */
  readonly version?: string;
}

/** What a client may upload directly to the store. */
export interface UploadPolicy {
  readonly contentType: string;
  /** Maximum size in bytes. */
  readonly size: number;
  /** Lifetime in seconds. */
  readonly seconds: number;
}

/** An address for one `multipart/form-data` POST with all these fields, followed by the part `file`. */
export interface UploadForm {
  readonly url: string;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Stores the bytes of files, by the system's place (storage/places.ts) and the file's id (32 hexadecimal characters). Files appear atomically, never
 * change except through a form of the store, and are durable when `put` resolves. If the store is unreachable, full or damaged, operations throw
 * `unavailable` (503); other errors are thrown unchanged, since none is the caller's fault.
 */
export interface FileStore {
  /** Directory of this process for receiving uploads, from which `put` can take files cheaply. */
  readonly incoming: string;
  /**
   * Takes over received bytes.
   * @throws an error of code `EEXIST` if the id exists already, whose bytes are kept; stores that cannot detect this leave the check to the caller
   */
  put(place: string, id: string, file: ReceivedFile): Promise<void>;
  /**
   * Checks that a system's location exists, so that a missing one (e.g. an unmounted disk) is not mistaken for an empty one.
   * @param isUsed whether files of the system are known to have been stored
   * @throws unavailable
   */
  ready?(place: string, isUsed: () => Promise<boolean>): Promise<void>;
  /** Returns `null` if the file does not exist. */
  stat(place: string, id: string): Promise<StoredObject | null>;
  /**
   * Opens a file or a range; `null` if it does not exist.
   * @param version from `stat`: `null` is returned if the bytes have changed since
   */
  open(place: string, id: string, range?: ByteRange, version?: string): Promise<Readable | null>;
  /** Removes a file; succeeds if it does not exist. */
  remove(place: string, id: string): Promise<void>;
  /** Removes all files of a system. @param removed called with the number of files of each batch */
  removeSystem(place: string, removed?: (files: number) => void): Promise<void>;
  /** Lists all files of a system, unordered; files being stored may be missing. */
  list(place: string): AsyncIterable<StoredObject>;
  /** Creates a form of the store for one upload. Missing if the store has none; then the service receives the bytes. */
  form?(place: string, id: string, policy: UploadPolicy): Promise<UploadForm>;
  close(): Promise<void>;
}
