import type { ApiError } from '../../../src/console/protocol/protocol.ts';
import { settings } from '../settings.ts';
import { ApiFailure, isSessionOver, NoConnection } from './failure.ts';
import { setStatus } from './status.ts';

/** Timeout of a request without an answer, in milliseconds; it counts as a lost connection. */
const TIMEOUT_MS = 60_000;

export interface CallOptions {
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** Whether the end of a session is reported to the whole page. Default: true. */
  readonly tellsSignedOut?: boolean;
}

/** Returns the address of an endpoint of a system. Reference: console.md#addresses-of-the-console. */
export function apiAddress(appId: string, path: string): string {
  return `${settings.root}/-/api/${encodeURIComponent(appId)}/${path}`;
}

/**
 * Sends a request to the service.
 * @returns the answer's JSON, of a type that the caller knows (`protocol.ts`).
 * @throws {ApiFailure} if the answer is an error.
 * @throws {NoConnection} if there is no answer, or one that is not from the service.
 */
export async function call<T>(appId: string, method: string, path: string, options: CallOptions = {}): Promise<T> {
  return await request<T>(apiAddress(appId, path), method, options);
}

/** Like `call`, for an address outside of systems. */
export async function request<T>(address: string, method: string, options: CallOptions = {}): Promise<T> {
  const signals = [AbortSignal.timeout(TIMEOUT_MS), ...(options.signal ? [options.signal] : [])];
  let response: Response;
  let answer: unknown;
  try {
    response = await fetch(address, {
      method,
      credentials: 'same-origin',
      headers: {
        Accept: 'application/json',
        ...(method === 'GET' ? {} : { 'X-Console': '1', 'Content-Type': 'application/json' }),
      },
      ...(method === 'GET' ? {} : { body: JSON.stringify(options.body ?? {}) }),
      signal: AbortSignal.any(signals),
    });
    answer = await json(response);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    setStatus({ isOffline: true });
    throw new NoConnection(String(error));
  }
  noteBuild(response.headers.get('X-Console-Build'));
  if (answer === undefined && response.status >= 502) {
    setStatus({ isOffline: true });
    throw new NoConnection(`status ${response.status}`);
  }
  setStatus({ isOffline: false });
  if (response.ok) return answer as T;
  const retryAfter = Number(response.headers.get('Retry-After'));
  const failure = new ApiFailure(response.status, (answer ?? {}) as Partial<ApiError>, retryAfter > 0 ? retryAfter : undefined);
  if (isSessionOver(failure) && options.tellsSignedOut !== false) setStatus({ isSignedOut: true });
  throw failure;
}

/** Compares the build of an answer with this program's. */
export function noteBuild(build: string | null): void {
  if (build && settings.build && build !== settings.build) setStatus({ isOutdated: true });
}

/** Handles a missing part of the program: there is a newer build, unless the service is unreachable. */
export async function noteMissingPart(): Promise<void> {
  try {
    await request(`${settings.root}/-/api/-/me`, 'GET', { tellsSignedOut: false });
  } catch (error) {
    if (error instanceof NoConnection) return;
  }
  setStatus({ isOutdated: true });
}

/** Parses the body. `undefined`: not JSON, so not from the service itself. A truncated body is a lost connection. */
async function json(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    return undefined;
  }
}
