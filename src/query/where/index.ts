export { allOf, always, guardedFilter } from './combine.ts';
export { newSpending, type Spending } from './context.ts';
export { parseWhere } from './parse.ts';
