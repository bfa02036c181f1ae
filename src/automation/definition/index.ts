export { authorField, parseTrigger } from './definition.ts';
export { triggerNames } from './names.ts';
export { triggerRules } from './rules.ts';
export { nextRun } from './schedule.ts';
export { criteriaOf, criteriaVisibleTo } from './typecheck.ts';
