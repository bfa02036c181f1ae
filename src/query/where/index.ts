export { allOf, always, guardedFilter } from './combine.ts';
export { parseWhere } from './parse.ts';
