import { LoopShare } from '../../admission/loop-share.ts';

/** Milliseconds of a turn of the event loop: what looks at triggers before a commit, and what works them off, has as much each. */
const MAX_TURN_MS = 5;

/** Criteria that are looked at before a commit: what is beyond it is left to the runner. */
export const beforeCommits = new LoopShare({ maxMsPerTurn: MAX_TURN_MS });
/** Criteria and templates that are worked off. */
export const workingOff = new LoopShare({ maxMsPerTurn: MAX_TURN_MS });
