export { Anonymiser, type ValueChange } from './kinds.ts';
export { isAboutPersons } from './person-fields.ts';
export { checkRules, parseRules, type Rules } from './rules.ts';
