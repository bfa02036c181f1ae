export { compileRegex, isLinear } from './compile.ts';
export { parseRegex } from './parse.ts';
