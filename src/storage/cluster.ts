/**
 * The processes that serve the systems of one database: which there are, and to which of them periodic work falls. One object for each
 * process, which its engine makes and all its stores hand on.
 */
export interface Cluster {
  /** Names this process among the others; another one at each start. */
  readonly processId: string;
  /** The names of the processes that are there now, this one too. One that was killed is missing within seconds. @throws unavailable */
  processes(): Promise<ReadonlySet<string>>;
  /**
   * Whether a job that a system needs now and then falls to this process: to one of all, once in so long.
   * @param place of the system's store
   * @param job its name, one for all processes
   * @throws unavailable
   */
  takeLease(place: string, job: string, everyMs: number): Promise<boolean>;
}
