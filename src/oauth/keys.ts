import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, type JWK } from 'jose';
import type { JsonObject } from '../kernel/json.ts';
import type { Items } from './storage/items.ts';

/** The keys of one system. They are its own, so that nothing that one system signs is good for another. */
export interface SystemKeys {
  /** Of signatures, private: the first one signs, all are good. */
  readonly signing: readonly JWK[];
  /** Of its cookies. */
  readonly cookies: readonly string[];
}

const KIND = 'Keys';
const ID = 'keys';
/** How often it may be that another process has made keys, or removed those that cannot be read. More often is no accident. */
const MAX_ATTEMPTS = 5;

/**
 * The keys of a system, made at first use: of many processes that do so at a time, one makes them. Keys that another installation has
 * sealed are of no use, nor is what they have signed: they are made anew.
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

/** What a key shows to everybody. */
export const publicKey = ({ kty, crv, x, y, kid, alg, use }: JWK): JWK => ({ kty, crv, x, y, kid, alg, use }) as JWK;
