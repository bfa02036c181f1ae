export { sweepItems } from './items/items.ts';
export { OAuth } from './oauth.ts';
