import type { Scratch } from './scratch.ts';

/** What a workload is told: sizes it may be asked to change, and where its processes and directories are kept. */
export interface BenchContext {
  /** Undefined: the workload's own default. */
  records: number | undefined;
  seconds: number;
  rounds: number;
  /** The directory of another version of the service. */
  against: string | undefined;
  scratch: Scratch;
}
