export { allOf, always, anyOf, guardedFilter, newSpending, type Spending } from './context.ts';
export { parseWhere } from './parse.ts';
