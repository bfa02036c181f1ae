export { checkParameters, countsAlone, parseQuery, parseSelection, redirectKey } from './parameters.ts';
export { redirected } from './redirect.ts';
export { guardedFilter } from './where/index.ts';
