import type { FileSystem, Files } from '../../files/index.ts';
import type { RecordContext } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import type { Administration } from '../../systems/index.ts';
import type { Backups, Clones, MoveEvents, MoveResult, OtherProcesses } from '../../transfer/index.ts';

/** Result of one check. */
export interface Finding {
  /** The application id, or the place of an unregistered store; left out: the service as a whole. */
  readonly system?: string;
  readonly check: string;
  readonly outcome: 'ok' | 'failed';
  readonly detail?: string;
}

/**
 * What is known of the stores before they are opened, which would make or migrate the registry. `ready`: they may be opened; `none`: there are none
 * yet; `pending`: the next start migrates the registry; `lost`: opening them tells what is wrong; `unknown`: the settings or the database are at fault.
 */
export type StoresState = 'ready' | 'none' | 'pending' | 'lost' | 'unknown';

/** Implementations of the sub-commands; the program only parses and prints. */
export interface Actions {
  /** Serves until the process is told to stop. */
  start(): Promise<void>;
  /**
   * Opens the registry and stores for the duration of the work.
   * @param use what may be created: nothing (`used`, the default; `checked`: not even DATA_DIR), everything (`first`), or a registry next to existing
   *   stores (`adopting`)
   */
  withAdministration<T>(
    work: (administration: Administration, contextOf: ContextOf) => T | Promise<T>,
    use?: 'used' | 'checked' | 'first' | 'adopting',
  ): Promise<T>;
  /**
   * Opens a system's records with master rights for the duration of the work. The work also gets functions that return the other processes on the
   * store, and
   * the files of all systems.
   * @throws OperatorError if the system does not exist
   */
  withRecords<T>(
    appId: string,
    work: (context: RecordContext, otherProcesses: () => OtherProcesses, files: () => Promise<Files>) => Promise<T>,
  ): Promise<T>;
  /**
   * Opens the files of one system, or of all systems in turn, for the duration of the work.
   * @param appId all systems if absent
   * @returns systems that were skipped because their store is refused or unavailable, with the errors; only if all systems were requested
   * @throws OperatorError if the system does not exist, or the files cannot be reached
   */
  withFiles(
    appId: string | undefined,
    work: (files: Files, system: FileSystem, isOnly: boolean) => Promise<void>,
  ): Promise<ReadonlyMap<string, unknown>>;
  /**
   * Returns the OpenAPI description of a system as JSON text.
   * @param tables names of tables; empty: all
   * @throws OperatorError if the system does not exist; classMissing (103)
   */
  describe(appId: string, tables: readonly string[]): Promise<string>;
  /** Opens the dependencies of backups for the duration of the work. @param use as in `withAdministration` */
  withBackups<T>(work: (backups: Backups) => Promise<T>, use?: 'used' | 'first'): Promise<T>;
  /** Opens the dependencies of clones for the duration of the work. */
  withClones<T>(work: (clones: Clones) => Promise<T>): Promise<T>;
  /** Checks everything around the stores, changing nothing. @param report receives each result */
  checkService(report: (finding: Finding) => void): Promise<StoresState>;
  /** Asks a question on the terminal; `null` if there is none. */
  ask(question: string): Promise<string | null>;
  /** Copies all systems between the embedded store and PostgreSQL. @throws OperatorError */
  move(to: 'postgres' | 'embedded', events: MoveEvents): Promise<MoveResult>;
  /** Removes the mark that the systems of the configured store were moved. @throws OperatorError if there is none */
  undoMoveMark(): Promise<void>;
}

/** Prints a result line to stdout. */
export type Print = (line: string) => void;

/** Returns a context with master rights for the records of a store. */
export type ContextOf = (store: Store, appId: string) => RecordContext;
