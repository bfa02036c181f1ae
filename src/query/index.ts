export { checkParameters, countsAlone, parseQuery, parseSelection } from './parameters.ts';
export { guardedFilter } from './where/index.ts';
