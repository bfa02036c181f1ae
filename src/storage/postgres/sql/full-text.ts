export { writeSearchScore } from './full-text/score.ts';
export { writeSearch } from './full-text/search.ts';
export { companion, vectorOf } from './full-text/vector.ts';
