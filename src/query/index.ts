export { parseQuery, parseSelection } from './parameters.ts';
