import type { Scratch } from './scratch.ts';

/** Input of a workload: optional sizes, and the registry of its processes and directories. */
export interface BenchContext {
  /** The workload's own default if undefined. */
  records: number | undefined;
  seconds: number;
  rounds: number;
  /** Directory of another version of the service. */
  against: string | undefined;
  scratch: Scratch;
}
