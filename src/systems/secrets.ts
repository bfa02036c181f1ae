import { hash, timingSafeEqual } from 'node:crypto';

/** Text to put before a key so that its hash holds for one header of one system of one installation. */
export function hashPrefix(salt: string, appId: string, kind: 'master' | 'apiKey'): string {
  return `${salt}:${appId}:${kind}:`;
}

/** What the registry keeps of a key. One round of a fast hash is enough, since keys are long random texts. */
export function hashKey(prefix: string, key: string): string {
  return hash('sha256', prefix + key, 'base64url');
}

/** Whether two hashes are one, in a time that tells nothing of where they differ. */
export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
