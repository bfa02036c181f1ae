import type { Observations } from '../../../observe/index.ts';
import type { DatabaseLoad } from './database.ts';

/** What a pool of connections does. */
export interface PoolLoad {
  /** Connections in use. */
  readonly busy: number;
  readonly idle: number;
}

/** What shared connections do. */
export interface SharedLoad extends PoolLoad {
  /** Statements without an answer. */
  readonly pending: number;
}

/** Joins what the pools of a process do. */
export const loadOf = (shared: SharedLoad, transactions: PoolLoad, long: PoolLoad): DatabaseLoad => ({
  shared: shared.pending,
  exclusive: long.busy,
  busy: shared.busy + transactions.busy + long.busy,
  idle: shared.idle + transactions.idle + long.idle,
});

/** Returns a function that observes how long reads wait for a connection. */
export const waitsTo =
  (observations: Observations | undefined) =>
  (waitMs: number): void =>
    observations?.observe({ kind: 'read', lane: 'exclusive', waitMs });
