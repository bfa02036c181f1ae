import { hash } from 'node:crypto';

/** What is kept of a token. One round of a fast hash is enough, since tokens are long random texts. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'base64url');
}
