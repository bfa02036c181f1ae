import type { DatabaseSync } from 'node:sqlite';
import type { Conditions, Observations } from '../../observe/index.ts';
import type { GenerationGrown } from '../engine.ts';
import type { RowContext } from '../sql/row-layout.ts';
import type { WalMark } from './file/wal-mark.ts';
import type { ReaderPool, ReportFault } from './reads/reader-pool.ts';

/** Dependencies of a store. */
export interface SqliteStoreSettings extends RowContext {
  readonly pool: ReaderPool;
  /** Notified of commits, and when the file is closed. */
  readonly log?: Pick<WalMark, 'committed' | 'committedOften' | 'closing' | 'closed' | 'setGeneration'>;
  /** See `Engine.open`. */
  readonly grown?: GenerationGrown;
  /** Called with failures of writes that no caller waits for. */
  readonly report: ReportFault;
  /** Named in reported conditions. */
  readonly appId?: string;
  /** See `Store`. */
  readonly place?: string;
  /** Receives transient faults. */
  readonly conditions?: Pick<Conditions, 'met' | 'over'>;
  readonly observations?: Observations;
  /** Checks that a reopened file is this system's, as the registry knows it. @throws if it is not: nothing is served from it */
  readonly verify?: (db: DatabaseSync, isAnother: boolean) => void;
  /** Called when the file is no longer at its path but is still open. Must not throw. */
  readonly onMissed?: (db: DatabaseSync) => void;
  /** Called when the file is considered damaged, and when it no longer is. */
  readonly onDamaged?: (isDamaged: boolean) => void;
  readonly onClosed?: () => void;
}
