/*
 * What the primary process and its workers tell each other. Workers of the next version run under a primary process of this one, so messages are only
 * ever added, and both sides ignore those that they do not know (adr/0036).
 */

/** Message of the primary process to a worker: finish and end; announce the shutdown; end. */
export type Command = 'retire' | 'drain' | 'end';

/** Message of a worker to the primary process: it listens. */
export interface Listening {
  readonly listening: string;
  /** Version of the service. */
  readonly version?: string;
}
