export { sweepItems } from './items/sweep.ts';
export { type AddressCounter, type BearerVerdict, OAuth, type OAuthParts } from './oauth.ts';
