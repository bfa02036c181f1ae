export { addFirstSystem } from './first-system.ts';
export { type Actions, type Print, runProgram } from './program.ts';
