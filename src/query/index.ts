export { checkQueryParameters, parseQuery, parseSelection } from './parameters.ts';
