import type { Store } from '../storage/port.ts';
import type { CompleteUpload } from './attach.ts';
import { eachFile, filesBefore, findFile, isKept, removeFile } from './metadata/file-metadata.ts';
import type { FileRow } from './metadata/model.ts';
import { readUsage } from './metadata/usage.ts';
import { mentionedIds, mentioningRecords } from './reference-scan.ts';
import type { FileStore } from './stores/port.ts';
import { UPLOAD_LIFETIME_MS } from './uploads/presigned-uploads.ts';
import { requirePlace } from './uploads/upload.ts';

/** Why a file is unused: no record references it, its large upload never arrived, or its bytes have no row. */
export type OrphanReason = 'unattached' | 'neverCame' | 'noRow';

/** An unused file. */
export interface Orphan {
  /** For bytes without a row, the id. */
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
  /** Files that were spared because the store may lack recent rows (`SweptSystem.mayLackRowsUntil`). */
  readonly spared: number;
}

export interface SweepOptions {
  /** Only files uploaded and last attached before this, in milliseconds since 1970. */
  readonly olderThan: number;
  /** Whether to remove them; otherwise nothing changes. */
  readonly remove: boolean;
}

/** A system whose files are swept. */
export interface SweptSystem {
  readonly store: Store;
  readonly appId: string;
  readonly bytes: FileStore;
  readonly complete: CompleteUpload;
  /** Rows before this time may be missing (`KnownStore.noticedAt`), so older files may be in use. `null` or omitted: no rows are missing. */
  readonly mayLackRowsUntil?: number | null;
}

/**
 * Finds the unused files of a system: those that no record references, large uploads that never arrived, and bytes without a row. The service may run
 * meanwhile: a file that a record attaches during the sweep stays.
 * Reference: files.md#sweep.
 * @param found called with each file, after its removal if files are removed
 * @param onProgress called with the progress: files and records examined, and their total
 */
export async function sweepFiles(
  system: SweptSystem,
  options: SweepOptions,
  found: (orphan: Orphan) => void,
  onProgress?: (done: number, total: number) => void,
): Promise<SweepResult> {
  let files = 0;
  let bytes = 0;
  const sweep = new Sweep(system, options, onProgress);
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
  /** Uploads before this are no longer in progress. */
  readonly #uploadsEndedBefore: number;
  /** Files that were spared because they may be in use. */
  spared = 0;
  readonly #onProgress: ((done: number, total: number) => void) | undefined;
  #done = 0;
  #total = 0;

  constructor(system: SweptSystem, { olderThan, remove }: SweepOptions, onProgress?: (done: number, total: number) => void) {
    this.#system = system;
    this.#olderThan = olderThan;
    this.#remove = remove;
    this.#uploadsEndedBefore = Math.min(olderThan, Date.now() - UPLOAD_LIFETIME_MS);
    this.#onProgress = onProgress;
  }

  async *orphans(): AsyncGenerator<Orphan> {
    // By id: when the row was last changed, and when it was last changed by anyone other than this sweep. Files changed after that are spared.
    const candidates = new Map<string, readonly [updatedAt: number, knownAt: number]>();
    const { store, bytes } = this.#system;
    // A missing location must not look like a location without files.
    await requirePlace(bytes, store);
    for await (const _any of bytes.list(store.place)) break;
    // Each file counts twice, for its row and its bytes. Counting records is slow, so it is done only if progress is reported.
    if (this.#onProgress) this.#total = 2 * (await readUsage(store)).files + (await mentioningRecords(store));
    for await (const row of eachFile((after, limit) => filesBefore(store, this.#olderThan, after, limit))) {
      this.#advance(1);
      if (row.size !== null) candidates.set(row.id, [row.updatedAt, row.updatedAt]);
      else if (row.createdAt < this.#uploadsEndedBefore) {
        const arrived = await this.#lateArrival(row);
        if (arrived) candidates.set(arrived.id, [arrived.updatedAt, row.updatedAt]);
        else yield* this.#removeUnused(row, 'neverCame');
      }
    }
    if (candidates.size > 0) {
      for await (const id of mentionedIds(store, (records) => this.#advance(records))) candidates.delete(id);
      for (const [id, [updatedAt, knownAt]] of candidates) {
        this.#advance(1);
        const row = await findFile(store, id);
        if (row?.updatedAt === updatedAt && !this.#mayBeInUse(knownAt)) yield* this.#removeUnused(row, 'unattached');
      }
    }
    yield* this.#withoutRow();
  }

  /** Whether evidence that a file is in use may be missing. @param at latest time of that evidence */
  #mayBeInUse(at: number): boolean {
    if (at > (this.#system.mayLackRowsUntil ?? 0)) return false;
    this.spared++;
    return true;
  }

  #advance(more: number): void {
    this.#done += more;
    this.#onProgress?.(this.#done, Math.max(this.#done, this.#total));
  }

  /** Returns the row of a large upload whose bytes have arrived after all. */
  async #lateArrival(row: FileRow): Promise<FileRow | null> {
    const { bytes, appId, store, complete } = this.#system;
    if (this.#remove) return complete({ appId, store }, row);
    const object = await bytes.stat(store.place, row.id);
    return object && { ...row, size: object.size };
  }

  /** Removes a file, unless it was changed meanwhile. */
  async *#removeUnused(row: FileRow, why: OrphanReason): AsyncGenerator<Orphan> {
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
      this.#advance(1);
      if (storedAt >= this.#uploadsEndedBefore || (await findFile(store, id)) || (await isKept(store, id))) continue;
      if (this.#mayBeInUse(storedAt)) continue;
      if (this.#remove) await bytes.remove(store.place, id);
      yield { name: id, size, why: 'noRow', uploadedAt: Math.floor(storedAt) };
    }
  }
}
