import type { Readable } from 'node:stream';

/** How names of files end that are being received (`passingName`). */
export const INCOMING_END = 'part';

/** Bytes that arrived and lie in a file of this process, synced to the disk, until a store takes them over or they are thrown away. */
export interface ReceivedFile {
  /** Absolute path. */
  readonly path: string;
  readonly size: number;
  /** The first bytes, `SAMPLE_BYTES` at most. */
  readonly sample: Buffer;
  /** Deletes it, where no store has taken it. Never throws. */
  discard(): Promise<void>;
}

/** Bytes from `start` to `end`, both included, from 0. */
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
  /** Names these very bytes, where a form of the store's own may bring others; `list` does not tell it. */
  readonly version?: string;
}

/** What a client may upload without the service in between. */
export interface UploadPolicy {
  readonly contentType: string;
  /** Bytes at most. */
  readonly size: number;
  /** How long it holds, in seconds. */
  readonly seconds: number;
}

/** An address that takes one `multipart/form-data` POST: every field, then the part `file`. */
export interface UploadForm {
  readonly url: string;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Where the bytes of files are: by the place of the system (storage/places.ts) and id (32 hexadecimal characters). A file is there whole or not at all, is never
 * changed but by a form of the store's own, and is durable when `put` resolves. A store that is away, full or broken is `unavailable` (503);
 * all other faults are thrown as they come: none is the caller's doing.
 */
export interface FileStore {
  /** Where uploads are received: a directory of this process, which `put` takes from cheaply. */
  readonly incoming: string;
  /**
   * Takes received bytes over.
   * @throws where the store can tell, an error of code `EEXIST` for an id that has bytes: those stay. Else its caller has to look
   */
  put(place: string, id: string, file: ReceivedFile): Promise<void>;
  /**
   * Looks whether the place of a system's files is there: one that is missing, such as a disk that is not mounted, is not taken for an empty one.
   * @param isUsed whether files of it are known to have been stored
   * @throws unavailable
   */
  ready?(place: string, isUsed: () => Promise<boolean>): Promise<void>;
  /** `null` where there is no such file. */
  stat(place: string, id: string): Promise<StoredObject | null>;
  /**
   * Its bytes, or a range within it; `null` where there is no such file.
   * @param version that `stat` told: `null` where it has other bytes by now
   */
  open(place: string, id: string, range?: ByteRange, version?: string): Promise<Readable | null>;
  /** One that is not there counts as removed. */
  remove(place: string, id: string): Promise<void>;
  /** All files of a system. @param removed told of each so many that are gone */
  removeSystem(place: string, removed?: (files: number) => void): Promise<void>;
  /** All files of a system, in no order; those that are being stored may be missing. */
  list(place: string): AsyncIterable<StoredObject>;
  /** A form of the store's own for one upload; where it has none the service takes the bytes itself. */
  form?(place: string, id: string, policy: UploadPolicy): Promise<UploadForm>;
  close(): Promise<void>;
}
