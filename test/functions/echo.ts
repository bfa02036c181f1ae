/** The service that the suites of this folder share. It has one custom function, which returns what it was called with. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { type Asked, ask, type Got } from '../support/files.ts';
import type { EngineName, Service } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';

const echo = `export default async ({ input, request, user }) => ({
  input, names: Object.keys(input), plain: ({}).polluted === undefined,
  method: request.method, headers: request.headers, holdsKey: request.holdsKey, ip: request.ip, user,
});`;

export interface WithEcho {
  service(): Service;
  /** Sends a request without credentials; the application id is in the path. */
  call(fn: string, asked?: Asked, appId?: string): Promise<Got>;
}

const directory = mkdtempSync(join(tmpdir(), 'rds-functions-'));
writeFileSync(join(directory, 'echo.mjs'), echo);
after(() => rmSync(directory, { recursive: true }));

/** Provides the shared service to the surrounding `describe`. Its function `echo` returns what it receives. */
export function useEcho(engine: EngineName): WithEcho {
  let service: Service;
  before(async () => {
    service = await sharedService(engine, { FUNCTIONS_DIR: directory });
  });
  return {
    service: () => service,
    call: (fn, asked = { method: 'POST' }, appId = service.appId) => ask(`${service.url}/functions/${appId}/${fn}`, asked),
  };
}

export const asForm = (more = '') => ({ 'Content-Type': `application/x-www-form-urlencoded${more}` });
export const json = (body: unknown): Asked => ({ method: 'POST', body: JSON.stringify(body) });
export const encoded = (fields: Record<string, string>): string => new URLSearchParams(fields).toString();

/** Limits of the service of `useBounded`: calls and logins a minute from one address, bytes of a body. */
export const bounds = { calls: 6, logins: 4, bytes: 100 };

/** Provides a service with limits for function calls and logins, behind a proxy on this machine. */
export function useBounded(): () => Service {
  let service: Service;
  before(async () => {
    service = await sharedService('sqlite', {
      RATE_LIMIT_FUNCTIONS: String(bounds.calls),
      RATE_LIMIT_LOGIN: String(bounds.logins),
      FUNCTION_BODY_BYTES: String(bounds.bytes),
      TRUST_PROXY: 'loopback',
    });
  });
  return () => service;
}
