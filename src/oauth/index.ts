export { OAuth } from './oauth.ts';
export { sweepItems } from './storage/items.ts';
