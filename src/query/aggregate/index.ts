export { AggregateParameters } from './parameters.ts';
export { buildAggregation } from './parse.ts';
