import { LoopShare } from '../../admission/loop-share.ts';

/** Time per turn of the event loop for each share. */
const MAX_TURN_MS = 5;

/** Criteria evaluated before a commit. What exceeds the share is left to the runner. */
export const commitShare = new LoopShare({ maxMsPerTurn: MAX_TURN_MS });
/** Criteria and templates evaluated by the runner. */
export const runnerShare = new LoopShare({ maxMsPerTurn: MAX_TURN_MS });
