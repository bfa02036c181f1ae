export { budgetOf, PatternBudget, type SharedPatterns } from './budget.ts';
export { compileRegex, costOf, isLinear } from './compile.ts';
export { parseRegex } from './parse.ts';
