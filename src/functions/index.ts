export { Functions } from './functions.ts';
export type { FunctionCall, FunctionTrigger, FunctionUser } from './model.ts';
