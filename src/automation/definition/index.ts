export { authorField, parseTrigger } from './definition.ts';
export { triggerRules } from './rules.ts';
export { nextRun } from './schedule.ts';
export { criteriaAsSeenBy, criteriaOf } from './typecheck.ts';
