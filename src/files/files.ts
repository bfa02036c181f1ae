import type { Readable } from 'node:stream';
import type { Addresses } from '../config/index.ts';
import type { JsonObject } from '../kernel/json.ts';
import { WEEK_MS } from '../kernel/time.ts';
import type { About, Conditions } from '../observe/index.ts';
import type { FileKeeper, RecordContext } from '../records/index.ts';
import { type CompleteUpload, fileKeeper } from './attach.ts';
import { noteArrived } from './confirm-uploads.ts';
import { holds, type Place } from './file-access.ts';
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

/** Milliseconds after which the service no longer looks by itself for an upload that was announced. */
const ARRIVAL_WINDOW_MS = WEEK_MS;

/** What the files of a service need. */
export interface FilesParts {
  readonly bytes: FileStore;
  readonly addresses: Addresses;
  /** Of this installation, for signatures. */
  readonly secret: string;
  /** Told of faults of the place where they are. */
  readonly conditions: Pick<Conditions, 'met' | 'over'>;
}

/** Where a private file is read: its name, and the field of the record that is to hold it. */
export interface PrivatePlace extends Place {
  readonly name: string;
}

/** The files of all systems. SPEC "Files"; docs/decisions.md "Files". */
export class Files {
  /** For `WriteHooks.files`. */
  readonly keeper: FileKeeper;
  readonly #parts: FilesParts;
  readonly #large: LargeUploads;
  /** Faults that were met since a write went well: whose, and what. */
  readonly #met = new Map<string, { readonly about: About; readonly kind: string }>();
  /** Notes an awaited upload that came past the service. */
  readonly complete: CompleteUpload = (system, file) => this.#telling(system, () => this.#large.complete(system, file));

  constructor(parts: FilesParts) {
    this.#parts = parts;
    this.#large = new LargeUploads(parts.bytes, parts.secret);
    this.keeper = fileKeeper(this.complete);
  }

  /** Whether a system takes files now. @throws outOfStorage (140) */
  async admit({ store }: FileSystem): Promise<void> {
    await admit(store);
  }

  /**
   * Takes bytes from a client, to a file of this process; none of them are taken past 32 MiB, or past 64 KiB of a file of a wrong type.
   * SPEC "Files: Upload". A stream that is refused is not destroyed, so that the client can be answered.
   * @param fileName as the client has it
   * @param saidType the client's media type; see `detectType`
   * @throws badFileName (122), fileTooLarge (413), emptyFile (130), invalidFileType (403)
   */
  async upload(
    system: FileSystem,
    fileName: string,
    saidType: string | undefined,
    bytes: AsyncIterable<Buffer>,
  ): Promise<Uploaded> {
    const name = await this.#telling(system, () => takeUpload(this.#parts.bytes, system, fileName, saidType, bytes));
    this.#works();
    return { name, url: `${this.#parts.addresses.filesOf(system.appId).uploads}/${name}` };
  }

  /**
   * Keeps bytes that may be more than a file in a file of this process, until they were looked at and are discarded.
   * @throws fileTooLarge (413), emptyFile (130)
   */
  spool(bytes: AsyncIterable<Buffer>, most: number): Promise<ReceivedFile> {
    return this.#telling(null, () => receive(bytes, this.#parts.bytes.incoming, most, () => {}));
  }

  /**
   * Takes a file of another service, under the name that records hold already (`adoptedName`).
   * @returns whether it was not here yet
   * @throws fileTooLarge (413), emptyFile (130), invalidFileType (403) for an executable, outOfStorage (140), and what `bytes` throw
   */
  adopt(system: FileSystem, file: AdoptedFile, bytes: () => Promise<AsyncIterable<Buffer>>): Promise<boolean> {
    return this.#telling(system, () => adoptFile(this.#parts.bytes, system, file, bytes));
  }

  /** Keeps a body until its work is done: see `keepBody`. */
  keep(system: FileSystem, bytes: AsyncIterable<Buffer>, most: number): Promise<KeptBody> {
    return this.#telling(system, () => keepBody(this.#parts.bytes, system, bytes, most));
  }

  /** The bytes of a body that is kept; `null` where it is not there any more. */
  openKept({ appId }: FileSystem, id: string): Promise<Readable | null> {
    return this.#parts.bytes.open(appId, id);
  }

  /** Its work is done. */
  removeKept(system: FileSystem, id: string): Promise<void> {
    return this.#telling(system, () => this.#parts.bytes.remove(system.appId, id));
  }

  /** Removes a file. SPEC "Files: Delete", rule 8: nobody learns whether it was there. */
  remove(system: FileSystem, givenName: string): Promise<void> {
    return this.#telling(system, () => removeGiven(this.#parts.bytes, system, givenName, this.#parts.conditions));
  }

  /**
   * Announces a large upload. SPEC "Files: Large upload policy", rule 4.
   * @param fileName as the client has it
   * @param wanted the body: ContentType and ContentLength
   * @throws largeUploadUnauthorized, largeUploadsOff (400), badUpload (107), badFileName (122), outOfStorage (140), permissionDenied (119)
   */
  async policy(context: RecordContext, fileName: string, wanted: JsonObject): Promise<UploadForm & { name: string }> {
    const policy = await this.#large.policyFor(context, wanted);
    return this.#large.announce(context, fileName, policy, this.#parts.addresses.uploadFormOf(context.appId));
  }

  /**
   * Takes the bytes of a signed form, where the store has no form of its own.
   * @param fields the form's fields before the file
   * @throws uploadRefused, invalidFileType (403), fileTooLarge (413), emptyFile (130), outOfStorage (140)
   */
  receive(system: FileSystem, fields: ReadonlyMap<string, string>, bytes: AsyncIterable<Buffer>): Promise<void> {
    return this.#telling(system, () => this.#large.receive(system, fields, bytes));
  }

  /** What the public address serves: what a File field has ever held. SPEC "Files" rule 6. */
  async openPublic(system: FileSystem, givenName: string): Promise<OpenFile | null> {
    const file = await findGiven(system, givenName);
    return file?.isPublic ? this.#open(system, file) : null;
  }

  /** What an upload's own address serves: what no PrivateFile field has ever held. CONTRACT "Forms and files". */
  async openUpload(system: FileSystem, givenName: string): Promise<OpenFile | null> {
    const file = await findGiven(system, givenName);
    return file && !file.isPrivate ? this.#open(system, file) : null;
  }

  /**
   * What a record's path serves. SPEC "Files" rule 6.
   * @returns `signIn` for who has no right to the record and the field; `null` where there is no such file
   */
  async openPrivate(context: RecordContext, place: PrivatePlace): Promise<OpenFile | null | 'signIn'> {
    const file = await findGiven(context, place.name);
    const held = await holds(context, place, file?.name ?? place.name);
    if (held === 'denied') return 'signIn';
    return held === 'yes' && file ? this.#open(context, file) : null;
  }

  /**
   * Notes large uploads of the last week that came past the service and that nobody has attached or read, so that they are counted.
   * SPEC "States and transitions"
   * @param isEnough asked between two of them
   */
  async noteArrived(system: FileSystem, isEnough: () => boolean): Promise<void> {
    await this.#noteArrived(system, Date.now() - ARRIVAL_WINDOW_MS, isEnough);
  }

  /** What a system's files take, with all that came past the service. For operators: it may take a while. */
  async usage(system: FileSystem): Promise<StorageUsage> {
    await this.#noteArrived(system, 0, () => false);
    return readUsage(system.store);
  }

  /** @param bytes that a system's files may take; `null`: no bound */
  setQuota({ store }: FileSystem, bytes: number | null): Promise<void> {
    return setQuota(store, bytes);
  }

  /** Removes uploads that a crash of this process, or of one before, broke off. Never throws. */
  clearAbandoned(): Promise<void> {
    return clearAbandoned(this.#parts.bytes.incoming);
  }

  /** Finds, and removes, what nobody needs. @param found told of each */
  async sweep(
    system: FileSystem,
    options: SweepOptions,
    found: (orphan: Orphan) => void,
    looked?: (done: number, total: number) => void,
  ): Promise<SweepResult> {
    const { appId, store, doubtedUntil = null } = system;
    if (options.remove) await this.clearAbandoned();
    return sweepFiles({ appId, store, doubtedUntil, bytes: this.#parts.bytes, complete: this.complete }, options, found, looked);
  }

  close(): Promise<void> {
    return this.#parts.bytes.close();
  }

  /** A form of the service's own notes what it brings. */
  async #noteArrived(system: FileSystem, since: number, isEnough: () => boolean): Promise<void> {
    if (this.#parts.bytes.form) await noteArrived(system, this.complete, since, isEnough);
  }

  /** A large upload that came past the service is noted first. */
  async #open(system: FileSystem, row: FileRow): Promise<OpenFile | null> {
    const file = await this.complete(system, row);
    if (!file || file.size === null) return null;
    const present = { ...file, size: file.size };
    return { file: present, read: (range) => this.#telling(system, () => this.#read(system, present, range)) };
  }

  /** @throws unavailable where the place of the files is missing */
  async #read(system: FileSystem, file: PresentFile, range?: ByteRange): Promise<Readable | null> {
    const { place } = system.store;
    const { bytes } = this.#parts;
    const stream = await readBytes(bytes, place, file, range);
    if (!stream) await bytes.ready?.(place, async () => true);
    return stream?.once('error', (error) => this.#tell(system, error)) ?? null;
  }

  /** @param system whose files it is about; `null` where that is not known yet */
  async #telling<T>(system: FileSystem | null, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.#tell(system, error);
      throw error;
    }
  }

  #tell(system: FileSystem | null, error: unknown): void {
    const kind = kindOfFileFault(error);
    if (kind === undefined) return;
    const about = system ? { app: system.appId } : {};
    this.#met.set(JSON.stringify([about, kind]), { about, kind });
    this.#parts.conditions.met(kind, about, (error as Error).cause);
  }

  /** All files are at one place: what was wrong with it before is over. */
  #works(): void {
    for (const { about, kind } of this.#met.values()) this.#parts.conditions.over(about, kind);
    this.#met.clear();
  }
}

/**
 * The bytes of a file, or a range within it.
 * @returns `null` where they are gone, or where a form brought others than those that were noted
 */
async function readBytes(
  store: FileStore,
  place: string,
  { id, size, version, createdAt }: PresentFile,
  range?: ByteRange,
): Promise<Readable | null> {
  const stream = await store.open(place, id, range, version);
  if (stream || version === undefined) return stream;
  // An operator who restores a bucket makes new versions, of the same size and after the time of any form.
  const now = await store.stat(place, id);
  const isRestored = now !== null && now.size === size && now.storedAt >= createdAt + UPLOAD_LIFETIME_MS;
  return isRestored ? store.open(place, id, range, now.version) : null;
}
