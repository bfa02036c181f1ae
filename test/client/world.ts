/** Clients of the service under test. */
import assert from 'node:assert/strict';
import { type ClientOptions, client, RecordServiceError } from '../../client/src/index.ts';
import type { Service } from '../support/service.ts';

/** Returns a client with the API key of the service, or with what is given. */
export const clientOf = ({ url, appId, apiKey }: Service, options: Partial<ClientOptions> = {}) =>
  client({ url, appId, ...(!options.sessionToken && !options.masterKey && { apiKey }), ...options });

export interface Expected {
  readonly status: number;
  readonly code?: number;
  readonly message?: string | RegExp;
}

/** Asserts that a call is refused; returns the error. */
export async function refused(call: Promise<unknown>, { status, code, message }: Expected): Promise<RecordServiceError> {
  const error = await call.then(
    (value) => assert.fail(`not refused: ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof RecordServiceError, String(error));
  assert.deepEqual([error.status, error.code], [status, code], error.message);
  if (message !== undefined)
    assert.match(error.message, message instanceof RegExp ? message : new RegExp(`^${RegExp.escape(message)}$`));
  return error;
}
