import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, type JWK } from 'jose';
import type { JsonObject } from '../kernel/json.ts';
import type { Items } from './storage/items.ts';

/** The keys of one system. Separate per system, so that a signature of one system is never valid for another. */
export interface SystemKeys {
  /** Private signature keys: the first one signs, all verify. */
  readonly signing: readonly JWK[];
  /** Keys of its cookies. */
  readonly cookies: readonly string[];
}

const KIND = 'Keys';
const ID = 'keys';
/** How often another process may win the race to create or remove keys before this is an error. */
const MAX_ATTEMPTS = 5;

/**
 * Returns the keys of a system, creating them on first use; of concurrent processes, one creates them. Keys encrypted by another installation are
 * replaced: they cannot be read, and their signatures are worthless.
 */
export async function openKeys(items: Items): Promise<SystemKeys> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const found = await items.read(KIND, ID);
    if (found) return found.payload as unknown as SystemKeys;
    await items.removeUnreadable(KIND, ID);
    await items.add(KIND, ID, { payload: (await newKeys()) as unknown as JsonObject, expiresAt: null });
  }
  throw new Error('the keys of a system cannot be made');
}

async function newKeys(): Promise<SystemKeys> {
  const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }) as JWK;
  const kid = await calculateJwkThumbprint(jwk);
  return { signing: [{ ...jwk, kid, alg: 'ES256', use: 'sig' }], cookies: [randomBytes(32).toString('base64url')] };
}

/** Returns the public part of a key. */
export const publicKey = ({ kty, crv, x, y, kid, alg, use }: JWK): JWK => ({ kty, crv, x, y, kid, alg, use }) as JWK;
