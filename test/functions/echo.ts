/** A service with one function of the operator, which answers what it was called with. */
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
  /** A request with nothing but what it is given: the application id is in the path. */
  call(fn: string, asked?: Asked, appId?: string): Promise<Got>;
}

const directory = mkdtempSync(join(tmpdir(), 'rds-functions-'));
writeFileSync(join(directory, 'echo.mjs'), echo);
after(() => rmSync(directory, { recursive: true }));

/** A service for the surrounding `describe`, whose function `echo` tells what it sees. */
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
