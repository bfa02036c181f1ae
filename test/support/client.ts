/** The client of programs, with which suites prepare and check data. It repeats nothing, because a repetition would hide a fault. */
import { type ClientOptions, client } from '../../client/src/index.ts';
import type { Service } from './service.ts';

/** Returns a client with the master key. Its errors are thrown, so what it does must succeed. */
export const crmOf = ({ url, appId, masterKey }: Service, options: Partial<ClientOptions> = {}) =>
  client({ url, appId, masterKey, retries: 0, ...options });

export type Crm = ReturnType<typeof crmOf>;
