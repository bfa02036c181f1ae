import { buffer } from 'node:stream/consumers';
import { actorId } from '../../access/index.ts';
import { fail, isPassing, ServiceError } from '../../errors/fail.ts';
import { inDoubtSince } from '../../errors/system-faults.ts';
import { type JsonObject, own } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { HOUR_MS } from '../../kernel/time.ts';
import { configFlag, type RecordContext } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import { addFile, completeFile, completeWithinQuota, findFile, type UploadedBytes } from '../metadata/file-metadata.ts';
import type { FileRow, FileSystem } from '../metadata/model.ts';
import { admit } from '../metadata/usage.ts';
import { fileNameOf, newFileName } from '../stores/name.ts';
import type { FileStore, ReceivedFile, UploadForm, UploadPolicy } from '../stores/port.ts';
import { describeType, SAMPLE_BYTES, unknownType } from '../types/index.ts';
import { FormSigner } from './post-policy.ts';
import { ReservedBytes } from './quota-reservations.ts';
import { receive } from './store-upload.ts';
import { refuseWrongKey, requirePlace } from './upload.ts';

/** Lifetime of a policy in seconds. Reference: files.md#large-uploads. */
export const POLICY_LIFETIME_S = 15 * 60;
/** Time after which an upload is no longer in progress: the lifetime of a policy plus the duration of a transfer. */
export const UPLOAD_LIFETIME_MS = 2 * HOUR_MS;
const mediaType = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:;[\x20-\x7e]{0,200})?$/;

/** Large uploads, which are announced before their bytes are sent. Reference: files.md#large-uploads. */
export class LargeUploads {
  readonly #bytes: FileStore;
  readonly #signer: FormSigner;
  /** Files whose bytes are being stored, to refuse a second upload, since bytes never change. */
  readonly #storing = new Set<string>();
  readonly #reserved = new ReservedBytes(POLICY_LIFETIME_S * 1_000);

  /** @param secret of this installation */
  constructor(bytes: FileStore, secret: string) {
    this.#bytes = bytes;
    this.#signer = new FormSigner(secret);
  }

  /**
   * Validates a request for a policy. Checks the caller's rights first, so that others learn nothing.
   * @throws largeUploadUnauthorized, largeUploadsOff (400); permissionDenied (119); badUpload (107)
   */
  async policyFor({ store, principal }: RecordContext, wanted: JsonObject): Promise<UploadPolicy> {
    if (principal.kind === 'anonymous') fail('largeUploadUnauthorized');
    refuseWrongKey(principal);
    const flag = await configFlag(store, 'allowAllFiles');
    if (!flag || own(flag, 'allowAllFiles') !== true) fail('largeUploadsOff');
    const contentType = own(wanted, 'ContentType');
    if (typeof contentType !== 'string' || !mediaType.test(contentType)) return fail('badUpload', 'ContentType is a media type');
    const size = sizeOf(own(wanted, 'ContentLength'));
    if (size === null) return fail('badUpload', `ContentLength is a whole number of bytes from 1 to ${limits.largeFileBytes}`);
    return { contentType, size, seconds: POLICY_LIFETIME_S };
  }

  /**
   * Records an awaited file, and creates the form for its upload.
   * @param ownForm address of the service's own form
   * @throws badFileName (122), outOfStorage (140)
   */
  async announce(
    { appId, store, principal }: Pick<RecordContext, 'appId' | 'store' | 'principal'>,
    fileName: string,
    policy: UploadPolicy,
    ownForm: string,
  ): Promise<UploadForm & { name: string }> {
    const { id, name } = newFileName(fileName);
    const key = keyOf(store, id);
    try {
      await admit(store, this.#reserved.add(`${store.place} ${actorId(principal)}`, key, policy.size));
      const form = (await this.#bytes.form?.(store.place, id, policy)) ?? this.#signer.sign(appId, name, policy, ownForm);
      await addFile(store, { id, name, size: null, contentType: policy.contentType });
      return { ...form, name };
    } catch (error) {
      this.#reserved.remove(key);
      throw error;
    }
  }

  /**
   * Receives the upload of the service's own form.
   * @param fields of the form
   * @throws uploadRefused, invalidFileType (403), fileTooLarge (413), emptyFile (130), outOfStorage (140)
   */
  async receive(system: FileSystem, fields: ReadonlyMap<string, string>, bytes: AsyncIterable<Buffer>): Promise<void> {
    const { id, name, size } = this.#signer.verify(system.appId, fields);
    await awaited(system, id);
    await admit(system.store);
    await requirePlace(this.#bytes, system.store);
    let contentType = unknownType;
    const file = await receive(bytes, this.#bytes.incoming, size, async (sample, isWhole) => {
      contentType = (await describeType(sample, isWhole, fileNameOf(name))) ?? fail('invalidFileType');
    });
    try {
      await this.#store(system, id, file, contentType);
    } finally {
      await file.discard();
    }
  }

  /** Stores the bytes. Of two concurrent uploads for one file the first wins. */
  async #store(system: FileSystem, id: string, file: ReceivedFile, contentType: string): Promise<void> {
    const { store } = system;
    const key = keyOf(store, id);
    if (this.#storing.has(key)) fail('uploadRefused', 'the policy is used');
    this.#storing.add(key);
    try {
      await this.#putNew(system, await awaited(system, id), file);
      if (await this.#completeNew(system, id, { size: file.size, contentType })) return;
      // A reader may have recorded it first; otherwise it was deleted meanwhile.
      if (await findFile(store, id)) return;
      await this.#bytes.remove(store.place, id);
      fail('uploadRefused', 'the file is deleted');
    } finally {
      this.#storing.delete(key);
    }
  }

  /** @throws outOfStorage (140) if the quota was used up meanwhile; the bytes are removed then */
  async #completeNew({ store }: FileSystem, id: string, bytes: UploadedBytes): Promise<boolean> {
    try {
      return await completeWithinQuota(store, id, bytes);
    } catch (error) {
      if (error instanceof ServiceError && error.key === 'outOfStorage') await this.#bytes.remove(store.place, id);
      // The bytes are stored: the next reader of the file records them.
      throw isPassing(error) ? inDoubtSince(error) : error;
    } finally {
      this.#reserved.remove(keyOf(store, id));
    }
  }

  /**
   * Stores the bytes of a new file. Bytes stored by another process are kept and recorded, because that process may have ended before recording them.
   * @throws uploadRefused (403)
   */
  async #putNew(system: FileSystem, row: FileRow, file: ReceivedFile): Promise<void> {
    const { place } = system.store;
    if (!(await this.#bytes.stat(place, row.id))) {
      try {
        return await this.#bytes.put(place, row.id, file);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
    await this.complete(system, row);
    fail('uploadRefused', 'the policy is used');
  }

  /**
   * Records an awaited file that was sent directly to the store, once.
   * @returns the updated file; `null` if its bytes have not arrived
   */
  async complete({ store }: FileSystem, file: FileRow): Promise<FileRow | null> {
    if (file.size !== null) return file;
    const stored = await this.#bytes.stat(store.place, file.id);
    if (!stored || stored.size === 0) return null;
    const { size, version } = stored;
    const end = Math.min(size, SAMPLE_BYTES) - 1;
    // By version, so that the inspected bytes are the recorded ones, even if the form replaces them meanwhile.
    const stream = await this.#bytes.open(store.place, file.id, { start: 0, end }, version);
    if (!stream) return null;
    const type = await describeType(await buffer(stream), size <= SAMPLE_BYTES, fileNameOf(file.name));
    this.#reserved.remove(keyOf(store, file.id));
    await completeFile(store, file.id, { size, contentType: type ?? unknownType, ...(version !== undefined && { version }) });
    return findFile(store, file.id);
  }
}

/** @throws uploadRefused (403) if the file has been uploaded or deleted */
async function awaited({ store }: FileSystem, id: string): Promise<FileRow> {
  const file = await findFile(store, id);
  return file?.size === null ? file : fail('uploadRefused', 'the policy is used');
}

/** Parses a size, as a number or as digits in forms and headers; `null` if it is not valid. */
function sizeOf(value: unknown): number | null {
  const size = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  const isSize = typeof size === 'number' && Number.isInteger(size) && size >= 1 && size <= limits.largeFileBytes;
  return isSize ? size : null;
}

/** Returns a key that is unique among the files of all systems. */
const keyOf = ({ place }: Store, id: string): string => `${place}/${id}`;
