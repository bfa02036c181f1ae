export { buildQuery, buildSelection, checkOptions, countsAlone } from './build.ts';
export type { AggregateOptions, FindOptions, ReadOptions } from './options.ts';
export { FindParameters, type NamedParameters, ReadParameters } from './parameters.ts';
export { redirected } from './redirect.ts';
export { guardedFilter } from './where/index.ts';
