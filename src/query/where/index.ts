export { allOf, always, anyOf, guardedFilter, negate, never } from './combine.ts';
export { parseWhere } from './parse.ts';
