export type { Aggregation } from './model.ts';
export { checkAggregationParameters, parseAggregation } from './parse.ts';
