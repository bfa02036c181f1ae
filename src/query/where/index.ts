export { allOf, anyOf, always, guardedFilter, newSpending, type Spending } from './context.ts';
export { parseWhere } from './parse.ts';
