export { addFirstSystem } from './first-system.ts';
export { type Actions, runProgram } from './program.ts';
