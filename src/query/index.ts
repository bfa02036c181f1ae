export { buildQuery, buildSelection, checkOptions, countsAlone } from './build.ts';
export type { AggregateOptions, FindOptions, MatchingOptions, ReadOptions } from './model/options.ts';
export { FindParameters, MatchingParameters, type NamedParameters, ReadParameters, whereOption } from './parameters.ts';
export { allOf, anyOf, guardedFilter, parseWhere } from './where/index.ts';
export { redirected } from './where/sub-queries.ts';
