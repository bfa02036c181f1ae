import { limits } from '../kernel/limits.ts';

/** Milliseconds over which it is measured how fast a client sends or takes. */
export const PACE_INTERVAL = 5_000;

/** Bytes of such an interval below which a client is slow. @param interval milliseconds */
export const leastBytesIn = (interval: number): number => (limits.leastPace * interval) / 1_000;
