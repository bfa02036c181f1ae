import type { Stats } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { ServiceError } from '../../../errors/fail.ts';
import { type PassingFault, unavailableSince } from '../../../errors/system-faults.ts';
import { MINUTE_MS } from '../../../kernel/time.ts';
import type { Conditions } from '../../../observe/index.ts';
import { Recovery } from '../../recovery.ts';
import type { Connection, ConnectionEvents } from '../connection/connection.ts';
import { BusyTime, missingError, type StoreFault, storeFaultOf } from '../connection/map-error.ts';
import { copyWal } from '../connection/statements.ts';
import { kindOfRefusal } from './opening-error.ts';
import { checkStorage, fileAt, isSameFile, KnownStorage, missingPart, type Place, PlacedFile } from './placed-file.ts';

/** Milliseconds between two openings of a file, and between two looks at its storage. */
const REOPEN_MS = 250;
/** Milliseconds between two looks for a file that nobody asks for. */
const WATCH_MS = 1_000;
/** Milliseconds after which a page that still cannot be read is damage: a device may fail for as long. */
const SUSPECT_MS = 1_000;
/** Milliseconds after which a page that could not be read is forgotten. */
const SUSPICION_MS = MINUTE_MS;
/** Milliseconds until a damaged file that has not changed is read through again: each time twice as long, since what it met may have passed. */
const FIRST_AGAIN_MS = 1_000;
const MAX_AGAIN_MS = MINUTE_MS;

/** Result codes that tell of a read: whether the storage takes writes says nothing of these. READ, SHORT_READ. */
const ofReads: ReadonlySet<number> = new Set([266, 522]);
const SHORT_READ = 522;

/** What the store does for its availability. */
export interface AvailabilitySettings {
  readonly path: string;
  /** The system, named in conditions. */
  readonly about: { readonly app: string | undefined; readonly file: string };
  readonly conditions?: Pick<Conditions, 'met' | 'over'>;
  /** Whether an opened file is the one that belongs there. @throws where it is not */
  readonly verify?: (db: DatabaseSync, isAnother: boolean) => void;
  /** Told where the file is not at its place, and is still open. Never throws. */
  readonly onMissed?: (db: DatabaseSync) => void;
  /** Told when the file counts as damaged, and when it no longer does. */
  readonly onDamaged?: (isDamaged: boolean) => void;
  /** Told after each opening: what is in memory of the file may not hold. */
  readonly onReopened: () => void;
  /** Ends reads on threads, and closes their connections to the file. */
  readonly endReads: () => Promise<void>;
  /** Reads the file through, on a thread. @throws where it cannot be read */
  readonly check: () => Promise<void>;
  /** A read and a small write. @throws unavailable */
  readonly works: () => Promise<void>;
}

/** Why nothing of the store is served, until something else is found. */
interface Loss {
  readonly kind: PassingFault;
  readonly cause: unknown;
  /** The file when that was found; `null` where none was there. */
  readonly file: Stats | null;
  /** When a damaged file that has not changed is looked at again, and how long after the look before. */
  readonly again: number;
  readonly pause: number;
}

/**
 * Knows whether a store's file can be used, opens it anew after faults, and tells the log of these. A page that cannot be read is a fault that
 * passes; still so after the file was opened anew, it is damage, and nothing of the store is served (CONTRACT "Faults of the store").
 */
export class Availability implements ConnectionEvents {
  readonly recovery: Recovery;
  readonly #settings: AvailabilitySettings;
  readonly #about: AvailabilitySettings['about'];
  #connection!: Connection;
  readonly #file: PlacedFile;
  #loss: Loss | undefined;
  /** How often the file was opened: what a read on a thread met may be of an earlier opening. */
  #opening = 0;
  #reopenedAt = Number.NEGATIVE_INFINITY;
  /** A page that could not be read, and in which opening. */
  #suspected: { readonly at: number; readonly opening: number } | undefined;
  /** The kinds of faults met since the store worked. */
  readonly #kinds = new Set<PassingFault>();
  /** When the file was last read through and nothing was found. */
  #soundAt = Number.NEGATIVE_INFINITY;
  readonly #storage: KnownStorage;
  readonly #busy = new BusyTime();
  #isDamaged = false;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** Whether the connection is open for what is in its log alone. */
  #isUnsaved = false;
  readonly #watch: NodeJS.Timeout;
  #isClosed = false;

  constructor(settings: AvailabilitySettings) {
    this.#settings = settings;
    this.#about = settings.about;
    this.#file = new PlacedFile(settings.path);
    this.#storage = new KnownStorage(settings.path, REOPEN_MS);
    this.#watch = setInterval(() => this.#lookAround(), WATCH_MS).unref();
    this.recovery = new Recovery(
      () => this.#look(),
      () => this.#back(),
    );
  }

  opened(connection: Connection): void {
    this.#connection = connection;
    this.#file.opened();
  }

  get opening(): number {
    return this.#opening;
  }

  /** Why nothing of the store is served: its file is missing, damaged or another's. `undefined` while it is. */
  get refusal(): ServiceError | undefined {
    return this.#loss && unavailableSince(this.#loss.cause);
  }

  /** Whether it has not worked since an I/O error. */
  get isAwayForIo(): boolean {
    return this.recovery.isAway && this.#loss === undefined && this.#kinds.has('an I/O error');
  }

  met(fault: StoreFault, error: unknown): void {
    if (this.#isClosed) return;
    if (fault.kind === 'the store is busy' && !this.#busy.isLong()) {
      this.recovery.met();
      return;
    }
    if (fault.kind === 'the store is damaged' || fault.code === SHORT_READ) this.#unreadable(error);
    else this.#tell(this.#kindOf(fault), error);
  }

  /** The same of a read on a thread. @param opening when it began */
  metOnThread(error: unknown, opening: number): void {
    const fault = storeFaultOf(error);
    if (!fault || opening !== this.#opening) return;
    if (fault.isBroken) this.#connection.break();
    this.met(fault, (error as ServiceError).cause ?? error);
  }

  /** Opens the file anew where that is due. @throws unavailable where it cannot be used now */
  mend(): void {
    if (this.#loss) {
      this.recovery.met();
      throw unavailableSince(this.#loss.cause);
    }
    if (performance.now() - this.#reopenedAt >= REOPEN_MS) this.#reopen();
    else if (!this.#connection.isOpen) throw unavailableSince(new Error('the file could not be opened'));
  }

  /**
   * Whether the file, and the log, are still at their places: what is written to one that was unlinked is lost. Costs a few microseconds.
   * Where they are not, the store is closed until they are there again.
   * @param withinMs how old a look may be that counts
   */
  isInPlace(withinMs = 0): boolean {
    if (this.#loss) return false;
    const now = performance.now();
    if (now - this.#lookedAt < withinMs) return true;
    this.#lookedAt = now;
    const found = this.#file.look();
    if (found === 'there') return true;
    this.#miss(found);
    return false;
  }

  /** Others would write without the log, or its index. A file that is gone as a whole, as a removed system's is, harms nobody. */
  #lookAround(): void {
    if (!this.#loss && !this.#connection.isTransaction && this.#file.look().startsWith('without')) this.isInPlace();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#watch);
    this.recovery.close();
  }

  #tell(kind: PassingFault, error: unknown): void {
    this.#kinds.add(kind);
    this.#settings.conditions?.met(kind, this.#about, error);
    this.recovery.met();
  }

  #kindOf({ kind, code }: StoreFault): PassingFault {
    if (kind === 'the store is busy' || kind === 'no memory is left' || ofReads.has(code)) return kind;
    return this.#storage.says() ?? kind;
  }

  #unreadable(error: unknown): void {
    const says = this.#storage.says();
    if (says !== null) {
      this.#connection.break();
      this.#tell(says, error);
      return;
    }
    const now = performance.now();
    const known = this.#suspected && now - this.#suspected.at < SUSPICION_MS ? this.#suspected : undefined;
    if (known && this.#opening > known.opening && now - known.at >= SUSPECT_MS) {
      this.#lose('the store is damaged', new Error(`${this.#settings.path} is damaged`, { cause: error }));
      this.#isDamaged = true;
      this.#settings.onDamaged?.(true);
      return;
    }
    this.#suspected = known ?? { at: now, opening: this.#opening };
    this.#connection.break();
    this.#tell('a page cannot be read', error);
  }

  /** @param what is not at its place */
  #miss(what: Exclude<Place, 'there'>): void {
    if (what === 'missing') this.#settings.onMissed?.(this.#connection.db);
    // What was acknowledged is in the log, which is still open: it is saved into the file, before the connection is closed.
    else {
      this.#connection.rollback();
      this.#isUnsaved = !copyWal(this.#connection.db);
    }
    this.#lose('the store is missing', missingPart(this.#settings.path, what).cause);
  }

  #lose(kind: PassingFault, cause: unknown): void {
    let file: Stats | null = null;
    try {
      file = fileAt(this.#settings.path);
    } catch {}
    const now = performance.now();
    // Reading it through does not find all damage: what is met soon after that is believed.
    const pause = now - this.#soundAt < MINUTE_MS ? MAX_AGAIN_MS : FIRST_AGAIN_MS;
    this.#loss = { kind, cause, file, again: now + pause, pause };
    if (this.#isUnsaved) this.#connection.break();
    else this.#connection.drop();
    this.#tell(kind, cause);
  }

  /** Opens the file anew. @throws unavailable */
  #reopen(): void {
    this.#reopenedAt = performance.now();
    const connection = this.#connection;
    let file: Stats | null = null;
    try {
      file = fileAt(this.#settings.path);
    } catch (error) {
      throw connection.sorted(error);
    }
    if (!file || file.size === 0) {
      this.#lose('the store is missing', missingError(this.#settings.path).cause);
      throw missingError(this.#settings.path);
    }
    connection.reopen();
    this.#opening++;
    try {
      this.#settings.verify?.(connection.db, this.#file.isAnother(file));
      connection.db.prepare('SELECT changes FROM rds_catalog').get();
      connection.useLog();
    } catch (error) {
      const sorted = connection.sorted(error);
      if (sorted !== error) throw sorted;
      this.#lose(kindOfRefusal(error), error);
      throw unavailableSince(error);
    }
    this.#file.opened();
    this.#settings.onReopened();
  }

  /** @throws where the store does not work */
  async #look(): Promise<void> {
    if (this.#loss) await this.#lookAgain(this.#loss);
    if (this.#kinds.has('the disk is full') && checkStorage(this.#settings.path) !== null) throw unavailableSince(undefined);
    await this.#settings.works();
  }

  /** @throws where the store cannot be served yet */
  async #lookAgain({ kind, cause, file: before, again, pause }: Loss): Promise<void> {
    const file = fileAt(this.#settings.path);
    if (!file || file.size === 0) throw unavailableSince(cause);
    const hasChanged = !isSameFile(file, before) || file.size !== before?.size || file.mtimeMs !== before.mtimeMs;
    // A missing one is there again, a refused one is cheap to ask.
    if (kind === 'the store is damaged') {
      if (!hasChanged && performance.now() < again) throw unavailableSince(cause);
      const next = Math.min(MAX_AGAIN_MS, 2 * pause);
      this.#loss = { kind, cause, file, again: performance.now() + next, pause: next };
      await this.#settings.endReads();
      await this.#settings.check();
      this.#soundAt = performance.now();
    } else await this.#settings.endReads();
    if (this.#isUnsaved && !copyWal(this.#connection.db)) throw unavailableSince(cause);
    this.#isUnsaved = false;
    if (this.#isClosed) throw unavailableSince(cause);
    this.#reopen();
    this.#loss = undefined;
    this.#suspected = undefined;
    if (this.#isDamaged) this.#settings.onDamaged?.(false);
    this.#isDamaged = false;
  }

  #back(): void {
    this.#kinds.clear();
    this.#settings.conditions?.over(this.#about);
  }
}
