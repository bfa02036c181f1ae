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
import { PromisedBytes } from './promised.ts';
import { receive } from './store-upload.ts';
import { refuseWrongKey, requirePlace } from './upload.ts';

/** CONTRACT "Large upload". */
export const POLICY_LIFETIME_S = 15 * 60;
/** Milliseconds after which an upload is no longer under way: what a policy holds, and what a form may take. */
export const UPLOAD_LIFETIME_MS = 2 * HOUR_MS;
const mediaType = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:;[\x20-\x7e]{0,200})?$/;

/** Uploads that are announced before their bytes come. SPEC "Files" rule 4; CONTRACT "Large upload". */
export class LargeUploads {
  readonly #bytes: FileStore;
  readonly #signer: FormSigner;
  /** Files whose bytes are being put in their place: bytes never change. */
  readonly #settling = new Set<string>();
  readonly #promised = new PromisedBytes(POLICY_LIFETIME_S * 1_000);

  /** @param secret of this installation */
  constructor(bytes: FileStore, secret: string) {
    this.#bytes = bytes;
    this.#signer = new FormSigner(secret);
  }

  /**
   * What a client asks for. Who may not learns nothing of it.
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
   * Notes a file that is awaited, and makes the form that takes it.
   * @param ownForm the address of the service's own form
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
      await admit(store, this.#promised.add(`${store.place} ${actorId(principal)}`, key, policy.size));
      const form = (await this.#bytes.form?.(store.place, id, policy)) ?? this.#signer.sign(appId, name, policy, ownForm);
      await addFile(store, { id, name, size: null, contentType: policy.contentType });
      return { ...form, name };
    } catch (error) {
      this.#promised.remove(key);
      throw error;
    }
  }

  /**
   * Takes the bytes of a form of the service's own.
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
      await this.#settle(system, id, file, contentType);
    } finally {
      await file.discard();
    }
  }

  /** Of two that come for one file the first counts. */
  async #settle(system: FileSystem, id: string, file: ReceivedFile, contentType: string): Promise<void> {
    const { store } = system;
    const key = keyOf(store, id);
    if (this.#settling.has(key)) fail('uploadRefused', 'the policy is used');
    this.#settling.add(key);
    try {
      await this.#putNew(system, await awaited(system, id), file);
      if (await this.#completeNew(system, id, { size: file.size, contentType })) return;
      // A reader was quicker to note it, or it was deleted meanwhile.
      if (await findFile(store, id)) return;
      await this.#bytes.remove(store.place, id);
      fail('uploadRefused', 'the file is deleted');
    } finally {
      this.#settling.delete(key);
    }
  }

  /** @throws outOfStorage (140) where others have taken the room meanwhile: the bytes go again */
  async #completeNew({ store }: FileSystem, id: string, bytes: UploadedBytes): Promise<boolean> {
    try {
      return await completeWithinQuota(store, id, bytes);
    } catch (error) {
      if (error instanceof ServiceError && error.key === 'outOfStorage') await this.#bytes.remove(store.place, id);
      // The bytes are in their place: who reads the file next notes them.
      throw isPassing(error) ? inDoubtSince(error) : error;
    } finally {
      this.#promised.remove(keyOf(store, id));
    }
  }

  /** Bytes that another process put there stay, and are noted: that one may have ended before it did. @throws uploadRefused (403) */
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
   * Notes an awaited file whose bytes came past the service, once.
   * @returns the file as it is then; `null` where its bytes have not come
   */
  async complete({ store }: FileSystem, file: FileRow): Promise<FileRow | null> {
    if (file.size !== null) return file;
    const stored = await this.#bytes.stat(store.place, file.id);
    if (!stored || stored.size === 0) return null;
    const { size, version } = stored;
    const end = Math.min(size, SAMPLE_BYTES) - 1;
    // What is judged is what is noted, though a form may bring other bytes meanwhile.
    const stream = await this.#bytes.open(store.place, file.id, { start: 0, end }, version);
    if (!stream) return null;
    const type = await describeType(await buffer(stream), size <= SAMPLE_BYTES, fileNameOf(file.name));
    this.#promised.remove(keyOf(store, file.id));
    await completeFile(store, file.id, { size, contentType: type ?? unknownType, ...(version !== undefined && { version }) });
    return findFile(store, file.id);
  }
}

/** @throws uploadRefused (403) where the file has come, or is gone */
async function awaited({ store }: FileSystem, id: string): Promise<FileRow> {
  const file = await findFile(store, id);
  return file?.size === null ? file : fail('uploadRefused', 'the policy is used');
}

/** A number, or its digits as forms and headers have it; `null` where it is no size of a file. */
function sizeOf(value: unknown): number | null {
  const size = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  const isSize = typeof size === 'number' && Number.isInteger(size) && size >= 1 && size <= limits.largeFileBytes;
  return isSize ? size : null;
}

/** Names a file among those of all systems. */
const keyOf = ({ place }: Store, id: string): string => `${place}/${id}`;
