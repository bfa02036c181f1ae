import { LoopShare } from './loop-share.ts';

/** Time per turn of the event loop for reading long bodies, whoever sends them and wherever they are read: one part of one body. */
const MAX_TURN_MS = 5;

/** The share of the event loop that long bodies have. */
export const bodyShare = new LoopShare({ maxMsPerTurn: MAX_TURN_MS });
