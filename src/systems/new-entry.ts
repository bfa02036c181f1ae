import { newObjectId, newSecret } from '../kernel/ids.ts';
import type { KeyEntry, SystemEntry } from '../storage/registry.ts';
import { checkAppId, checkKey, checkName } from './refusal.ts';
import { hashKey, hashPrefix } from './system.ts';

/** The name of the API key that a new system has. */
const firstKeyName = 'default';

/** What to add a system with; what is left out is made up. */
export interface NewSystem {
  readonly appId?: string | undefined;
  readonly name?: string | undefined;
  readonly masterKey?: string | undefined;
  readonly apiKey?: string | undefined;
}

/** The credentials of a new system. The keys are nowhere else. */
export interface SystemCredentials {
  readonly appId: string;
  readonly masterKey: string;
  readonly apiKey: string;
}

/** What the registry is to know of a new system, and its credentials, of which the registry has hashes. */
export interface NewEntry {
  readonly entry: SystemEntry;
  readonly key: KeyEntry;
  readonly credentials: SystemCredentials;
}

/** Makes the entry of a new system. @throws AdministrationError where a value is not fit */
export function newEntry(salt: string, wanted: NewSystem): NewEntry {
  const appId = checkAppId(wanted.appId ?? newObjectId());
  const name = checkName(wanted.name ?? appId);
  const masterKey = checkKey(wanted.masterKey ?? newSecret());
  const apiKey = checkKey(wanted.apiKey ?? newSecret());
  const createdAt = Date.now();
  const hashOf = (kind: 'master' | 'apiKey', key: string) => hashKey(hashPrefix(salt, appId, kind), key);
  return {
    entry: { id: newObjectId(), appId, name, createdAt, masterKeyHash: hashOf('master', masterKey) },
    key: { appId, name: firstKeyName, hash: hashOf('apiKey', apiKey), createdAt },
    credentials: { appId, masterKey, apiKey },
  };
}
