export { parseTrigger } from './definition.ts';
export { criteriaOf } from './fit.ts';
export { triggerRules } from './rules.ts';
export { nextRun } from './schedule.ts';
