export type { FoundFunction } from './found-function.ts';
export { FunctionThreads } from './function-threads.ts';
export type { LostCall, OutdatedCall, ThreadCall } from './thread-call.ts';
