export { authorField, parseTrigger } from './definition.ts';
export { criteriaAsSeenBy, criteriaOf } from './fit.ts';
export { triggerRules } from './rules.ts';
export { nextRun } from './schedule.ts';
