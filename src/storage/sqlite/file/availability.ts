import type { Stats } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { ServiceError } from '../../../errors/fail.ts';
import { type PassingFault, unavailableSince } from '../../../errors/system-faults.ts';
import { MINUTE_MS } from '../../../kernel/time.ts';
import type { Conditions } from '../../../observe/index.ts';
import { Recovery } from '../../recovery.ts';
import type { Connection } from '../connection/connection.ts';
import { BusyTime, type ConnectionEvents, missingError, type StoreFault, storeFaultOf } from '../connection/map-error.ts';
import { copyWal } from '../connection/statements.ts';
import { kindOfRefusal } from './opening-error.ts';
import { checkStorage, type FileState, fileAt, isSameFile, missingPart, PlacedFile, StorageCheck } from './placed-file.ts';

/** Minimum interval between two attempts to open a file, and between two checks of its storage. */
const REOPEN_INTERVAL_MS = 250;
/** Interval of periodic checks that the file is in place. */
const WATCH_INTERVAL_MS = 1_000;
/** Time after which a page that still cannot be read counts as damage: a device may fail for that long. */
const DAMAGE_AFTER_MS = 1_000;
/** Time after which a page that could not be read is forgotten. */
const SUSPICION_TTL_MS = MINUTE_MS;
/** Delay before an unchanged damaged file is verified again, since the cause may have passed; it doubles each time. */
const MIN_RECHECK_DELAY_MS = 1_000;
const MAX_RECHECK_DELAY_MS = MINUTE_MS;

/** Result codes of failed reads; whether the storage accepts writes is irrelevant to them. READ, SHORT_READ. */
const readErrorCodes: ReadonlySet<number> = new Set([266, 522]);
const SHORT_READ = 522;

/** What the availability of a store depends on. */
export interface AvailabilitySettings {
  readonly path: string;
  /** The system, named in conditions. */
  readonly about: { readonly app: string | undefined; readonly file: string };
  readonly conditions?: Pick<Conditions, 'met' | 'over'>;
  /** Checks that an opened file is the one that belongs there. @throws if it is not */
  readonly verify?: (db: DatabaseSync, isAnother: boolean) => void;
  /** Called if the file is not at its path but still open. Must not throw. */
  readonly onMissed?: (db: DatabaseSync) => void;
  /** Called when the file is considered damaged, and when it no longer is. */
  readonly onDamaged?: (isDamaged: boolean) => void;
  /** Called after each reopening: cached data of the file may be invalid. */
  readonly onReopened: () => void;
  /** Ends reads on threads and closes their connections to the file. */
  readonly endReads: () => Promise<void>;
  /** Verifies the whole file on a thread. @throws if it cannot be read */
  readonly check: () => Promise<void>;
  /** Makes a read and a small write. @throws unavailable */
  readonly probe: () => Promise<void>;
}

/** Why the store is not served. */
interface Loss {
  readonly kind: PassingFault;
  readonly cause: unknown;
  /** The file when that was found; `null` if there was none. */
  readonly file: Stats | null;
  /** When an unchanged damaged file is verified next, and the delay before that, in milliseconds. */
  readonly recheckAt: number;
  readonly delayMs: number;
}

/**
 * Tracks whether a store's file is usable, reopens it after faults, and reports them. A page that cannot be read is a transient fault. If it still
 * cannot be read after the file was reopened, the file is damaged, and the store is no longer served. Reference: faults.md#damaged-pages.
 */
export class Availability implements ConnectionEvents {
  readonly recovery: Recovery;
  readonly #settings: AvailabilitySettings;
  readonly #about: AvailabilitySettings['about'];
  #connection!: Connection;
  readonly #file: PlacedFile;
  #loss: Loss | undefined;
  /** Number of times the file was opened: a fault of a read on a thread may belong to an earlier opening. */
  #opening = 0;
  #reopenedAt = Number.NEGATIVE_INFINITY;
  /** When a page could not be read, and in which opening. */
  #suspected: { readonly at: number; readonly opening: number } | undefined;
  /** The kinds of faults met since the store last worked. */
  readonly #faultKinds = new Set<PassingFault>();
  /** When the file was last verified successfully. */
  #soundAt = Number.NEGATIVE_INFINITY;
  readonly #storage: StorageCheck;
  readonly #busy = new BusyTime();
  #isDamaged = false;
  #checkedAt = Number.NEGATIVE_INFINITY;
  /** Whether the connection is kept open only because its WAL has not been saved into the file. */
  #isUnsaved = false;
  readonly #watch: NodeJS.Timeout;
  #isClosed = false;

  constructor(settings: AvailabilitySettings) {
    this.#settings = settings;
    this.#about = settings.about;
    this.#file = new PlacedFile(settings.path);
    this.#storage = new StorageCheck(settings.path, REOPEN_INTERVAL_MS);
    this.#watch = setInterval(() => this.#watchParts(), WATCH_INTERVAL_MS).unref();
    this.recovery = new Recovery(
      () => this.#tryRecovery(),
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

  /** Why the store is not served: its file is missing, damaged or another system's. `undefined` while it is served. */
  get refusal(): ServiceError | undefined {
    return this.#loss && unavailableSince(this.#loss.cause);
  }

  /** Whether it has not worked since an I/O error. */
  get isAwayForIo(): boolean {
    return this.recovery.isAway && this.#loss === undefined && this.#faultKinds.has('an I/O error');
  }

  met(fault: StoreFault, error: unknown): void {
    if (this.#isClosed) return;
    if (fault.kind === 'the store is busy' && !this.#busy.isLong()) {
      this.recovery.met();
      return;
    }
    if (fault.kind === 'the store is damaged' || fault.code === SHORT_READ) this.#unreadable(error);
    else this.#report(this.#kindOf(fault), error);
  }

  /** Reports a fault of a read on a thread. @param opening the value of `opening` when the read began */
  metOnThread(error: unknown, opening: number): void {
    const fault = storeFaultOf(error);
    if (!fault || opening !== this.#opening) return;
    if (fault.isBroken) this.#connection.markBroken();
    this.met(fault, (error as ServiceError).cause ?? error);
  }

  /** Reopens the file if necessary. @throws unavailable if it cannot be used now */
  mend(): void {
    if (this.#loss) {
      this.recovery.met();
      throw unavailableSince(this.#loss.cause);
    }
    if (performance.now() - this.#reopenedAt >= REOPEN_INTERVAL_MS) this.#reopen();
    else if (!this.#connection.isOpen) throw unavailableSince(new Error('the file could not be opened'));
  }

  /**
   * Returns whether the file and its WAL are still at their paths: writes to an unlinked file are lost. Costs a few microseconds. If they are not,
   * the store is closed until they are there again.
   * @param withinMs maximum age of a check that is accepted
   */
  isInPlace(withinMs = 0): boolean {
    if (this.#loss) return false;
    const now = performance.now();
    if (now - this.#checkedAt < withinMs) return true;
    this.#checkedAt = now;
    const found = this.#file.check();
    if (found === 'there') return true;
    this.#miss(found);
    return false;
  }

  /** Finds a removed WAL or WAL index early, since other processes would write without them. A file that is gone completely does no harm. */
  #watchParts(): void {
    if (!this.#loss && !this.#connection.isTransaction && this.#file.check().startsWith('without')) this.isInPlace();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#watch);
    this.recovery.close();
  }

  #report(kind: PassingFault, error: unknown): void {
    this.#faultKinds.add(kind);
    this.#settings.conditions?.met(kind, this.#about, error);
    this.recovery.met();
  }

  #kindOf({ kind, code }: StoreFault): PassingFault {
    if (kind === 'the store is busy' || kind === 'no memory is left' || readErrorCodes.has(code)) return kind;
    return this.#storage.fault() ?? kind;
  }

  #unreadable(error: unknown): void {
    const fault = this.#storage.fault();
    if (fault !== null) {
      this.#connection.markBroken();
      this.#report(fault, error);
      return;
    }
    const now = performance.now();
    const known = this.#suspected && now - this.#suspected.at < SUSPICION_TTL_MS ? this.#suspected : undefined;
    if (known && this.#opening > known.opening && now - known.at >= DAMAGE_AFTER_MS) {
      this.#lose('the store is damaged', new Error(`${this.#settings.path} is damaged`, { cause: error }));
      this.#isDamaged = true;
      this.#settings.onDamaged?.(true);
      return;
    }
    this.#suspected = known ?? { at: now, opening: this.#opening };
    this.#connection.markBroken();
    this.#report('a page cannot be read', error);
  }

  /** @param what the part that is not at its path */
  #miss(what: Exclude<FileState, 'there'>): void {
    if (what === 'missing') this.#settings.onMissed?.(this.#connection.db);
    // Acknowledged writes are in the WAL, which is still open: save it into the file before the connection is closed.
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
    // Verifying does not find all damage: damage met soon after a successful verification is believed for longer.
    const delayMs = now - this.#soundAt < MINUTE_MS ? MAX_RECHECK_DELAY_MS : MIN_RECHECK_DELAY_MS;
    this.#loss = { kind, cause, file, recheckAt: now + delayMs, delayMs };
    if (this.#isUnsaved) this.#connection.markBroken();
    else this.#connection.drop();
    this.#report(kind, cause);
  }

  /** Reopens the file. @throws unavailable */
  #reopen(): void {
    this.#reopenedAt = performance.now();
    const connection = this.#connection;
    let file: Stats | null = null;
    try {
      file = fileAt(this.#settings.path);
    } catch (error) {
      throw connection.mapError(error);
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
      const mapped = connection.mapError(error);
      if (mapped !== error) throw mapped;
      this.#lose(kindOfRefusal(error), error);
      throw unavailableSince(error);
    }
    this.#file.opened();
    this.#settings.onReopened();
  }

  /** @throws if the store does not work */
  async #tryRecovery(): Promise<void> {
    if (this.#loss) await this.#recheck(this.#loss);
    if (this.#faultKinds.has('the disk is full') && checkStorage(this.#settings.path) !== null) throw unavailableSince(undefined);
    await this.#settings.probe();
  }

  /** @throws if the store cannot be served yet */
  async #recheck({ kind, cause, file: before, recheckAt, delayMs }: Loss): Promise<void> {
    const file = fileAt(this.#settings.path);
    if (!file || file.size === 0) throw unavailableSince(cause);
    const hasChanged = !isSameFile(file, before) || file.size !== before?.size || file.mtimeMs !== before.mtimeMs;
    // A missing file that is there again, or a refused one, is cheap to check.
    if (kind === 'the store is damaged') {
      if (!hasChanged && performance.now() < recheckAt) throw unavailableSince(cause);
      const next = Math.min(MAX_RECHECK_DELAY_MS, 2 * delayMs);
      this.#loss = { kind, cause, file, recheckAt: performance.now() + next, delayMs: next };
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
    this.#faultKinds.clear();
    this.#settings.conditions?.over(this.#about);
  }
}
