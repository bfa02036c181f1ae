import type { ApiError } from '../../../src/console/protocol/protocol.ts';
import { settings } from '../settings.ts';
import { ApiFailure, isSessionOver, NoConnection } from './failure.ts';
import { setStatus } from './status.ts';

/** A request that is silent for so long is given up, and counts as lost. */
const TIMEOUT_MS = 60_000;

export interface CallOptions {
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** Whether a session that has ended is told to the whole page. Left out: it is. */
  readonly tellsSignedOut?: boolean;
}

/** The address of an endpoint of a system (CONTRACT "Console"). */
export function apiAddress(appId: string, path: string): string {
  return `${settings.root}/-/api/${encodeURIComponent(appId)}/${path}`;
}

/**
 * Asks the service.
 * @returns the answer's JSON, of a type that the caller knows (`protocol.ts`).
 * @throws {ApiFailure} for an answer that is an error.
 * @throws {NoConnection} where there was no answer, or none of the service itself.
 */
export async function call<T>(appId: string, method: string, path: string, options: CallOptions = {}): Promise<T> {
  return await request<T>(apiAddress(appId, path), method, options);
}

/** As `call`, for an address that is no system's. */
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

/** A part of this program was not found: there is a newer one, unless there is no service at all. */
export async function noteMissingPart(): Promise<void> {
  try {
    await request(`${settings.root}/-/api/-/me`, 'GET', { tellsSignedOut: false });
  } catch (error) {
    if (error instanceof NoConnection) return;
  }
  setStatus({ isOutdated: true });
}

/** `undefined`: no JSON, so nothing that the service itself has said. A body that breaks off is a lost connection. */
async function json(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    return undefined;
  }
}
