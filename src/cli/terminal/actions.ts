import type { FileSystem, Files } from '../../files/index.ts';
import type { RecordContext } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import type { Administration } from '../../systems/index.ts';
import type { Backups, Company, MoveEvents, MoveResult } from '../../transfer/index.ts';

/** What the sub-commands do; the program only parses and prints. */
export interface Actions {
  /** Serves until the process is told to end. */
  start(): Promise<void>;
  /** Opens what is kept in DATA_DIR for the time of some work. */
  /** @param use what it may make: nothing where it is left out; all, as the first to use DATA_DIR; a registry beside stores that are there */
  withAdministration<T>(
    work: (administration: Administration, contextOf: ContextOf) => T | Promise<T>,
    use?: 'used' | 'first' | 'adopting',
  ): Promise<T>;
  /**
   * Opens a system's records, as its master, for the time of some work, which may ask who else works on them at the same time, and for the
   * files of all systems.
   * @throws OperatorError where there is no such system
   */
  withRecords<T>(
    appId: string,
    work: (context: RecordContext, company: () => Company, files: () => Promise<Files>) => Promise<T>,
  ): Promise<T>;
  /**
   * Opens the files of a system, or of every one in turn, for the time of some work.
   * @param appId left out: every one
   * @returns of every one: those that are refused, or not available now, and why; the others were worked with
   * @throws OperatorError where there is no such system, or the files cannot be reached
   */
  withFiles(
    appId: string | undefined,
    work: (files: Files, system: FileSystem, isOnly: boolean) => Promise<void>,
  ): Promise<ReadonlyMap<string, unknown>>;
  /** Opens what backups are made of, and restored into, for the time of some work. @param use as of `withAdministration` */
  withBackups<T>(work: (backups: Backups) => Promise<T>, use?: 'used' | 'first'): Promise<T>;
  /** Asks who sits at the terminal; `null` where nobody does. */
  ask(question: string): Promise<string | null>;
  /** Copies all systems between the embedded store and PostgreSQL. @throws OperatorError */
  move(to: 'postgres' | 'embedded', events: MoveEvents): Promise<MoveResult>;
  /** Says that the systems of the configured store are served from there again. @throws OperatorError where they were not moved */
  undoMoveMark(): Promise<void>;
}

/** Where a sub-command's result goes: stdout, one line each. */
export type Print = (line: string) => void;

/** Records of a store, as their master. */
export type ContextOf = (store: Store, appId: string) => RecordContext;
