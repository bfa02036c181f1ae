import { hash } from 'node:crypto';

/** Text to put before a key so that its hash holds for one header of one system of one installation. */
export function hashPrefix(salt: string, appId: string, kind: 'master' | 'apiKey'): string {
  return `${salt}:${appId}:${kind}:`;
}

/**
 * What the registry keeps of a key. One round of a fast hash is enough, since keys are long random texts. Keys are found again by their
 * hash: what a comparison's duration tells of a salted hash helps nobody to the key.
 */
export function hashKey(prefix: string, key: string): string {
  return hash('sha256', prefix + key, 'base64url');
}
