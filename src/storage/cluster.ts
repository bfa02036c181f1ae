/**
 * The processes that serve the systems of one database, and the distribution of periodic work among them. One object per process: its engine creates
 * it, and all its stores share it.
 */
export interface Cluster {
  /** Identifies this process among the others; different at each start. */
  readonly processId: string;
  /** Whether `Store.tableVersion` changes with every write of other processes, in hidden tables too: then no table has to be polled. */
  readonly noticesAllWrites: boolean;
  /** Returns the ids of the live processes, this one included. A killed process disappears within seconds. @throws unavailable */
  processes(): Promise<ReadonlySet<string>>;
  /**
   * Claims a periodic job of a system for this process. Within each interval at most one process gets it.
   * @param place of the system's store
   * @param job its name, the same in all processes
   * @returns whether this process is to do the job now
   * @throws unavailable
   */
  takeLease(place: string, job: string, everyMs: number): Promise<boolean>;
}
