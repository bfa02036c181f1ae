import { hash, randomBytes } from 'node:crypto';

const form = /^r:[0-9a-f]{32}$/;
const consoleForm = /^c:[0-9a-f]{64}$/;

/** Returns a new session token of 34 characters (users.md#log-in). */
export function newToken(): string {
  return `r:${randomBytes(16).toString('hex')}`;
}

/** Whether a value has the form of a token. */
export function isToken(value: unknown): value is string {
  return typeof value === 'string' && form.test(value);
}

/** Returns a new token of a console session. It only travels in a cookie, and has another form, so that no other address accepts it. */
export function newConsoleToken(): string {
  return `c:${randomBytes(32).toString('hex')}`;
}

/** Whether a value has the form of a console token. */
export function isConsoleToken(value: unknown): value is string {
  return typeof value === 'string' && consoleForm.test(value);
}

/** Returns the stored form of a token. One round of a fast hash suffices, since tokens are long and random. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'base64url');
}
