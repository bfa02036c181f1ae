export { runProgram } from './program.ts';
export type { Actions, Finding, StoresState } from './terminal/actions.ts';
export { addFirstSystem } from './users/first-system.ts';
