export type { CallOnce, FunctionCall, FunctionTrigger, FunctionUser } from './custom/model.ts';
export { Functions } from './functions.ts';
