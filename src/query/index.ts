export { checkQueryParameters, parseQuery, parseSelection } from './parameters.ts';
export type { QueryParameters, QueryScope } from './scope.ts';
export { guardedFilter, parseWhere } from './where/index.ts';
