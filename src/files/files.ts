import type { Readable } from 'node:stream';
import type { Addresses } from '../config/index.ts';
import type { JsonObject } from '../kernel/json.ts';
import { WEEK_MS } from '../kernel/time.ts';
import type { About, Conditions } from '../observe/index.ts';
import type { FileKeeper, RecordContext } from '../records/index.ts';
import { type CompleteUpload, fileKeeper } from './attach.ts';
import { confirmUploads } from './confirm-uploads.ts';
import { holds, type RecordField } from './file-access.ts';
import { type Orphan, type SweepOptions, type SweepResult, sweepFiles } from './garbage-collect.ts';
import { type KeptBody, keepBody } from './kept-bodies.ts';
import { readUsage, setQuota } from './metadata/file-metadata.ts';
import type { FileRow, FileSystem, OpenFile, PresentFile, StorageUsage, Uploaded } from './metadata/model.ts';
import { admit } from './metadata/usage.ts';
import { kindOfFileFault } from './stores/faults.ts';
import { clearAbandoned } from './stores/index.ts';
import type { ByteRange, FileStore, ReceivedFile, UploadForm } from './stores/port.ts';
import { type AdoptedFile, adoptFile } from './uploads/adopt.ts';
import { LargeUploads, UPLOAD_LIFETIME_MS } from './uploads/presigned-uploads.ts';
import { receive } from './uploads/store-upload.ts';
import { findGiven, removeGiven, takeUpload } from './uploads/upload.ts';

/** Time after its announcement during which the service checks whether a large upload has arrived. */
const ARRIVAL_WINDOW_MS = WEEK_MS;

/** The dependencies of `Files`. */
export interface FilesParts {
  readonly bytes: FileStore;
  readonly addresses: Addresses;
  /** Signing secret of this installation. */
  readonly secret: string;
  /** Receives faults of the file store. */
  readonly conditions: Pick<Conditions, 'met' | 'over'>;
}

/** The address of a private file: its name, and the field of the record that should hold it. */
export interface PrivatePlace extends RecordField {
  readonly name: string;
}

/** The files of all systems (docs/reference/files.md). */
export class Files {
  /** For `WriteHooks.files`. */
  readonly keeper: FileKeeper;
  readonly #parts: FilesParts;
  readonly #large: LargeUploads;
  /** Faults reported since the last successful write, with the system. */
  readonly #reported = new Map<string, { readonly about: About; readonly kind: string }>();
  /** Records an awaited upload that was sent directly to the store. */
  readonly complete: CompleteUpload = (system, file) => this.#reportFaults(system, () => this.#large.complete(system, file));

  constructor(parts: FilesParts) {
    this.#parts = parts;
    this.#large = new LargeUploads(parts.bytes, parts.secret);
    this.keeper = fileKeeper(this.complete);
  }

  /** Checks whether a system accepts files now. @throws outOfStorage (140) */
  async admit({ store }: FileSystem): Promise<void> {
    await admit(store);
  }

  /**
   * Stores an upload of a client. Reading stops at 32 MiB, or after 64 KiB if the type is refused. A refused stream is not destroyed, so that the
   * client can receive the response.
   * Reference: files.md#upload.
   * @param fileName as sent by the client
   * @param declaredType the client's media type; see `detectType`
   * @throws badFileName (122), fileTooLarge (413), emptyFile (130), invalidFileType (403)
   */
  async upload(
    system: FileSystem,
    fileName: string,
    declaredType: string | undefined,
    bytes: AsyncIterable<Buffer>,
  ): Promise<Uploaded> {
    const name = await this.#reportFaults(system, () => takeUpload(this.#parts.bytes, system, fileName, declaredType, bytes));
    this.#clearFaults();
    return { name, url: `${this.#parts.addresses.filesOf(system.appId).uploads}/${name}` };
  }

  /**
   * Writes bytes to a temporary file of this process, for inspection; the caller discards it.
   * @throws fileTooLarge (413), emptyFile (130)
   */
  spool(bytes: AsyncIterable<Buffer>, maxBytes: number): Promise<ReceivedFile> {
    return this.#reportFaults(null, () => receive(bytes, this.#parts.bytes.incoming, maxBytes, () => {}));
  }

  /**
   * Stores a file of another service under the name that records use already (`adoptedName`).
   * @returns whether it was not stored yet
   * @throws fileTooLarge (413), emptyFile (130), invalidFileType (403) for an executable, outOfStorage (140), and errors of `bytes`
   */
  adopt(system: FileSystem, file: AdoptedFile, bytes: () => Promise<AsyncIterable<Buffer>>): Promise<boolean> {
    return this.#reportFaults(system, () => adoptFile(this.#parts.bytes, system, file, bytes));
  }

  /** Stores a body until its work is done; see `keepBody`. */
  keep(system: FileSystem, bytes: AsyncIterable<Buffer>, maxBytes: number): Promise<KeptBody> {
    return this.#reportFaults(system, () => keepBody(this.#parts.bytes, system, bytes, maxBytes));
  }

  /** Opens a kept body; `null` if it no longer exists. */
  openKept({ appId }: FileSystem, id: string): Promise<Readable | null> {
    return this.#parts.bytes.open(appId, id);
  }

  /** Removes a kept body when its work is done. */
  removeKept(system: FileSystem, id: string): Promise<void> {
    return this.#reportFaults(system, () => this.#parts.bytes.remove(system.appId, id));
  }

  /** Deletes a file. Does not reveal whether it existed. Reference: files.md#delete-a-file. */
  remove(system: FileSystem, givenName: string): Promise<void> {
    return this.#reportFaults(system, () => removeGiven(this.#parts.bytes, system, givenName, this.#parts.conditions));
  }

  /**
   * Announces a large upload. Reference: files.md#large-uploads.
   * @param fileName as sent by the client
   * @param wanted the request body: ContentType and ContentLength
   * @throws largeUploadUnauthorized, largeUploadsOff (400), badUpload (107), badFileName (122), outOfStorage (140), permissionDenied (119)
   */
  async policy(context: RecordContext, fileName: string, wanted: JsonObject): Promise<UploadForm & { name: string }> {
    const policy = await this.#large.policyFor(context, wanted);
    return this.#large.announce(context, fileName, policy, this.#parts.addresses.uploadFormOf(context.appId));
  }

  /**
   * Receives the upload of a signed form, if the store has no forms of its own.
   * @param fields the form's fields before the file
   * @throws uploadRefused, invalidFileType (403), fileTooLarge (413), emptyFile (130), outOfStorage (140)
   */
  receive(system: FileSystem, fields: ReadonlyMap<string, string>, bytes: AsyncIterable<Buffer>): Promise<void> {
    return this.#reportFaults(system, () => this.#large.receive(system, fields, bytes));
  }

  /** Opens a file at its public address: only files that a File field has held. Reference: files.md#public-files. */
  async openPublic(system: FileSystem, givenName: string): Promise<OpenFile | null> {
    const file = await findGiven(system, givenName);
    return file?.isPublic ? this.#open(system, file) : null;
  }

  /** Opens a file at its upload address: only files that no PrivateFile field has held. Reference: files.md#serving. */
  async openUpload(system: FileSystem, givenName: string): Promise<OpenFile | null> {
    const file = await findGiven(system, givenName);
    return file && !file.isPrivate ? this.#open(system, file) : null;
  }

  /**
   * Opens a file at the address in a record. Reference: files.md#private-files.
   * @returns `signIn` if the caller may not read the record or the field; `null` if the file does not exist
   */
  async openPrivate(context: RecordContext, place: PrivatePlace): Promise<OpenFile | null | 'signIn'> {
    const file = await findGiven(context, place.name);
    const held = await holds(context, place, file?.name ?? place.name);
    if (held === 'denied') return 'signIn';
    return held === 'yes' && file ? this.#open(context, file) : null;
  }

  /**
   * Records large uploads of the last week that were sent directly to the store and neither attached nor read, so that they count.
   * Reference: files.md#large-uploads.
   * @param shouldStop called between two uploads
   */
  async confirmUploads(system: FileSystem, shouldStop: () => boolean): Promise<void> {
    await this.#confirmUploads(system, Date.now() - ARRIVAL_WINDOW_MS, shouldStop);
  }

  /** Returns the storage usage of a system, after recording all arrived uploads. For operators: may take long. */
  async usage(system: FileSystem): Promise<StorageUsage> {
    await this.#confirmUploads(system, 0, () => false);
    return readUsage(system.store);
  }

  /** Sets the storage quota of a system. @param bytes `null`: no limit */
  setQuota({ appId, store }: FileSystem, bytes: number | null): Promise<void> {
    return setQuota(store, bytes, appId);
  }

  /** Removes partial uploads of processes that have crashed. Never throws. */
  clearAbandoned(): Promise<void> {
    return clearAbandoned(this.#parts.bytes.incoming);
  }

  /** Finds, and optionally removes, unused files. @param found called with each */
  async sweep(
    system: FileSystem,
    options: SweepOptions,
    found: (orphan: Orphan) => void,
    onProgress?: (done: number, total: number) => void,
  ): Promise<SweepResult> {
    const { appId, store, mayLackRowsUntil = null } = system;
    if (options.remove) await this.clearAbandoned();
    return sweepFiles(
      { appId, store, mayLackRowsUntil, bytes: this.#parts.bytes, complete: this.complete },
      options,
      found,
      onProgress,
    );
  }

  close(): Promise<void> {
    return this.#parts.bytes.close();
  }

  /** Unnecessary without forms of the store: the service's own form records what it receives. */
  async #confirmUploads(system: FileSystem, since: number, shouldStop: () => boolean): Promise<void> {
    if (this.#parts.bytes.form) await confirmUploads(system, this.complete, since, shouldStop);
  }

  /** Records a large upload first, if it was sent directly to the store. */
  async #open(system: FileSystem, row: FileRow): Promise<OpenFile | null> {
    const file = await this.complete(system, row);
    if (!file || file.size === null) return null;
    const present = { ...file, size: file.size };
    return { file: present, read: (range) => this.#reportFaults(system, () => this.#read(system, present, range)) };
  }

  /** @throws unavailable if the system's file location is missing */
  async #read(system: FileSystem, file: PresentFile, range?: ByteRange): Promise<Readable | null> {
    const { place } = system.store;
    const { bytes } = this.#parts;
    const stream = await readBytes(bytes, place, file, range);
    if (!stream) await bytes.ready?.(place, async () => true);
    return stream?.once('error', (error) => this.#report(system, error)) ?? null;
  }

  /** @param system the system for the report; `null` if it is not known yet */
  async #reportFaults<T>(system: FileSystem | null, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.#report(system, error);
      throw error;
    }
  }

  #report(system: FileSystem | null, error: unknown): void {
    const kind = kindOfFileFault(error);
    if (kind === undefined) return;
    const about = system ? { app: system.appId } : {};
    this.#reported.set(JSON.stringify([about, kind]), { about, kind });
    this.#parts.conditions.met(kind, about, (error as Error).cause);
  }

  /** Ends all reported faults: all files share one store, so a success shows that it works again. */
  #clearFaults(): void {
    for (const { about, kind } of this.#reported.values()) this.#parts.conditions.over(about, kind);
    this.#reported.clear();
  }
}

/**
 * Opens the bytes of a file, or a range.
 * @returns `null` if they no longer exist, or if a form replaced them after they were recorded
 */
async function readBytes(
  store: FileStore,
  place: string,
  { id, size, version, createdAt }: PresentFile,
  range?: ByteRange,
): Promise<Readable | null> {
  const stream = await store.open(place, id, range, version);
  if (stream || version === undefined) return stream;
  // Restoring a bucket creates new versions. They are accepted if they have the same size and are newer than any form could be.
  const now = await store.stat(place, id);
  const isRestored = now !== null && now.size === size && now.storedAt >= createdAt + UPLOAD_LIFETIME_MS;
  return isRestored ? store.open(place, id, range, now.version) : null;
}
