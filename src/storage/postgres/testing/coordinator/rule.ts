import type { Tree } from './tree.ts';

/** A form of statement that must not be sent to a coordinator. */
export interface Rule {
  readonly name: string;
  /** What Citus answers, or does without an error. */
  readonly citus: string;
  /** The form that works. */
  readonly instead: string;
  /** Whether a statement, as parsed, has the form. */
  isBroken(statement: Tree): boolean;
}

/** Schema of the list of systems: it must not become one that lies on a worker. */
export const REGISTRY = 'rds';
