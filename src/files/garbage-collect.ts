import type { Store } from '../storage/port.ts';
import type { CompleteUpload } from './attach.ts';
import { eachFile, filesBefore, findFile, isKept, removeFile } from './metadata/file-metadata.ts';
import type { FileRow } from './metadata/model.ts';
import { readUsage } from './metadata/usage.ts';
import { mentionedIds, mentioningRecords } from './reference-scan.ts';
import type { FileStore } from './stores/port.ts';
import { UPLOAD_LIFETIME_MS } from './uploads/presigned-uploads.ts';
import { requirePlace } from './uploads/upload.ts';

/** Why a file is nobody's: nothing mentions it, its large upload never came, or its bytes have no row. */
export type OrphanReason = 'unattached' | 'neverCame' | 'noRow';

/** A file that nobody needs. */
export interface Orphan {
  /** Of bytes without a row only the id is known. */
  readonly name: string;
  readonly size: number;
  readonly why: OrphanReason;
  /** In milliseconds since 1970. */
  readonly uploadedAt: number;
}

/** What was removed, or would be. */
export interface SweepResult {
  readonly files: number;
  readonly bytes: number;
  /** Files that would go, but for the doubt about the store (`SweptSystem.doubtedUntil`). */
  readonly spared: number;
}

/** Which files, and what becomes of them. */
export interface SweepOptions {
  /** Uploaded and last attached before this, in milliseconds since 1970. */
  readonly olderThan: number;
  /** Whether they are removed; else nothing changes. */
  readonly remove: boolean;
}

/** A system whose files are swept. */
export interface SweptSystem {
  readonly store: Store;
  readonly appId: string;
  readonly bytes: FileStore;
  readonly complete: CompleteUpload;
  /** Rows of before may be missing (`KnownStore.noticedAt`), so that a file of before may be somebody's. `null`, or left out: none are. */
  readonly doubtedUntil?: number | null;
}

/**
 * Finds the files of a system that nobody needs: those that no record mentions, large uploads that never came, and bytes without a row.
 * The service may be at work meanwhile: a file that a record takes in the course of it stays. SPEC "States and transitions"
 * @param found told of each, once it is removed where it is to be
 * @param looked told how many files and records were looked at, of how many, some
 */
export async function sweepFiles(
  system: SweptSystem,
  options: SweepOptions,
  found: (orphan: Orphan) => void,
  looked?: (done: number, total: number) => void,
): Promise<SweepResult> {
  let files = 0;
  let bytes = 0;
  const sweep = new Sweep(system, options, looked);
  for await (const orphan of sweep.orphans()) {
    files++;
    bytes += orphan.size;
    found(orphan);
  }
  return { files, bytes, spared: sweep.spared };
}

class Sweep {
  readonly #system: SweptSystem;
  readonly #olderThan: number;
  readonly #remove: boolean;
  /** Before this an upload is no longer under way. */
  readonly #settled: number;
  /** Files of which it cannot be told that they are nobody's. */
  spared = 0;
  readonly #told: ((done: number, total: number) => void) | undefined;
  #done = 0;
  #total = 0;

  constructor(system: SweptSystem, { olderThan, remove }: SweepOptions, told?: (done: number, total: number) => void) {
    this.#system = system;
    this.#olderThan = olderThan;
    this.#remove = remove;
    this.#settled = Math.min(olderThan, Date.now() - UPLOAD_LIFETIME_MS);
    this.#told = told;
  }

  async *orphans(): AsyncGenerator<Orphan> {
    // Ids, and when the row was last touched: a file that is touched from now on is not looked at; and when it was touched by somebody else.
    const candidates = new Map<string, readonly [updatedAt: number, knownAt: number]>();
    const { store, bytes } = this.#system;
    // A place that is missing tells nothing of files.
    await requirePlace(bytes, store);
    for await (const _any of bytes.list(store.place)) break;
    // Each file twice: its row and its bytes. Records are counted one by one, for who is told alone.
    if (this.#told) this.#total = 2 * (await readUsage(store)).files + (await mentioningRecords(store));
    for await (const row of eachFile((after, limit) => filesBefore(store, this.#olderThan, after, limit))) {
      this.#look(1);
      if (row.size !== null) candidates.set(row.id, [row.updatedAt, row.updatedAt]);
      else if (row.createdAt < this.#settled) {
        const came = await this.#come(row);
        if (came) candidates.set(came.id, [came.updatedAt, row.updatedAt]);
        else yield* this.#take(row, 'neverCame');
      }
    }
    if (candidates.size > 0) {
      for await (const id of mentionedIds(store, (records) => this.#look(records))) candidates.delete(id);
      for (const [id, [updatedAt, knownAt]] of candidates) {
        this.#look(1);
        const row = await findFile(store, id);
        if (row?.updatedAt === updatedAt && !this.#isDoubted(knownAt)) yield* this.#take(row, 'unattached');
      }
    }
    yield* this.#withoutRow();
  }

  /** Whether what says that a file is somebody's may be missing. @param at when that was written at the latest */
  #isDoubted(at: number): boolean {
    if (at > (this.#system.doubtedUntil ?? 0)) return false;
    this.spared++;
    return true;
  }

  #look(more: number): void {
    this.#done += more;
    this.#told?.(this.#done, Math.max(this.#done, this.#total));
  }

  /** A large upload whose bytes are there all the same. */
  async #come(row: FileRow): Promise<FileRow | null> {
    const { bytes, appId, store, complete } = this.#system;
    if (this.#remove) return complete({ appId, store }, row);
    const object = await bytes.stat(store.place, row.id);
    return object && { ...row, size: object.size };
  }

  /** Removes a file unless somebody was at it meanwhile. */
  async *#take(row: FileRow, why: OrphanReason): AsyncGenerator<Orphan> {
    const { store, bytes } = this.#system;
    const size = row.size ?? (await bytes.stat(store.place, row.id))?.size ?? 0;
    if (this.#remove) {
      if (!(await removeFile(store, row, true))) return;
      await bytes.remove(store.place, row.id);
    }
    yield { name: row.name, size, why, uploadedAt: row.createdAt };
  }

  async *#withoutRow(): AsyncGenerator<Orphan> {
    const { store, bytes } = this.#system;
    for await (const { id, size, storedAt } of bytes.list(store.place)) {
      this.#look(1);
      if (storedAt >= this.#settled || (await findFile(store, id)) || (await isKept(store, id))) continue;
      if (this.#isDoubted(storedAt)) continue;
      if (this.#remove) await bytes.remove(store.place, id);
      yield { name: id, size, why: 'noRow', uploadedAt: Math.floor(storedAt) };
    }
  }
}
