export { type About, Conditions } from './conditions.ts';
export { faultPlace } from './fault-place.ts';
export { createLog, type Logger } from './log.ts';
export { type ObservationKind, Observations, type Observer, type QueryShape, type ReadLane } from './observations.ts';
