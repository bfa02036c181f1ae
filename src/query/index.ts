export { buildQuery, buildSelection, checkOptions, countsAlone } from './build.ts';
export type { AggregateOptions, FindOptions, ReadOptions } from './model/options.ts';
export { FindParameters, type NamedParameters, ReadParameters, whereOption } from './parameters.ts';
export { guardedFilter } from './where/index.ts';
export { redirected } from './where/sub-queries.ts';
