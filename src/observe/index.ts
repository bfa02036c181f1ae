export { type About, Conditions } from './conditions.ts';
export { faultPlace } from './fault-place.ts';
export { createLog, type Logger } from './log.ts';
export {
  type CallObservation,
  type LoginOutcome,
  type MailOutcome,
  Observations,
  type QueryOperation,
  type QueryShape,
  type ReadLane,
} from './observations.ts';
export { SlowQueryLog } from './slow-query-log.ts';
export { startTraces, stopTraces } from './traces/start.ts';
export { annotateRequest, type RequestSpan, type Tracer, traced, tracerInUse } from './traces/tracing.ts';
