export { type About, Conditions } from './conditions.ts';
export { faultPlace } from './fault-place.ts';
export { createLog, type Logger } from './log.ts';
export {
  type LoginOutcome,
  type MailOutcome,
  Observations,
  type ReadLane,
} from './observations.ts';
