import { hash, randomBytes } from 'node:crypto';

const form = /^r:[0-9a-f]{32}$/;
const consoleForm = /^c:[0-9a-f]{64}$/;

/** A new session token: 34 characters (SPEC "Login and session" 2). */
export function newToken(): string {
  return `r:${randomBytes(16).toString('hex')}`;
}

/** Whether a value can be a token at all. */
export function isToken(value: unknown): value is string {
  return typeof value === 'string' && form.test(value);
}

/** A new token of a session of the console, which is in a cookie alone: in another form, so that no other address takes it. */
export function newConsoleToken(): string {
  return `c:${randomBytes(32).toString('hex')}`;
}

/** Whether a value can be a token of a session of the console. */
export function isConsoleToken(value: unknown): value is string {
  return typeof value === 'string' && consoleForm.test(value);
}

/** What is kept of a token. One round of a fast hash is enough, since tokens are long random texts. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'base64url');
}
