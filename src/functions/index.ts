export { Functions } from './functions.ts';
export type { FunctionCall, FunctionUser } from './model.ts';
