export { typesOfSystem } from './types.ts';
