export { checkAggregationParameters, parseAggregation } from './parse.ts';
