export { callableFunctions, checkFunctions } from './check.ts';
export type { CallOnce, FunctionCall, FunctionTrigger, FunctionUser } from './custom/api/model.ts';
export { type CallableFunction, Functions } from './functions.ts';
