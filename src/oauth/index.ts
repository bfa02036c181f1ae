export { sweepItems } from './items/sweep.ts';
export { OAuth } from './oauth.ts';
