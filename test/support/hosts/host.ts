/**
 * Processes of a run in which the program stays loaded and compiled: one for services (services.ts) and one for commands (commands.ts), for each test
 * file that runs at a time.
 */
import { runResource } from '../../../src/storage/postgres/testing/run-resources.ts';
import { request } from '../request.ts';

export interface Host {
  readonly url: string;
  /** Gets what the process writes to stdout and stderr. */
  readonly logFile: string;
}

export type HostKind = 'services' | 'commands';

/** Leases a host for this test file. @returns undefined without the runner */
export function hostOf(kind: HostKind): Promise<Host> | undefined {
  return runResource(`${kind}/${process.pid}`)?.then((text) => JSON.parse(text));
}

/** Sends an order. @returns the answer @throws Error with the stack that the host has answered */
export async function order({ url }: Host, method: string, path: string, body?: object): Promise<string> {
  const { status, text } = await request(new URL(path, url), method, {}, body === undefined ? null : JSON.stringify(body));
  if (status !== 200) throw new Error(text);
  return text;
}
