export { Conditions } from './conditions.ts';
export { createLog, type Logger } from './log.ts';
