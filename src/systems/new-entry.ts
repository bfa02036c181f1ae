import { appIdPattern, keyForm, keyPattern } from '../kernel/credentials.ts';
import { newObjectId, newSecret } from '../kernel/ids.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import type { Store } from '../storage/port.ts';
import type { KeyEntry, SystemEntry } from '../storage/registry.ts';
import { hashKey, hashPrefix } from './system.ts';

/** The name of a new system's API key. */
const firstKeyName = 'default';

/** A system to add; values left out are generated. */
export interface NewSystem {
  readonly appId?: string | undefined;
  readonly name?: string | undefined;
  readonly masterKey?: string | undefined;
  readonly apiKey?: string | undefined;
}

/** The credentials of a new system. The keys are stored nowhere else. */
export interface SystemCredentials {
  readonly appId: string;
  readonly masterKey: string;
  readonly apiKey: string;
}

/** Steps taken while a system is added and not yet in force. An error undoes the addition. */
export interface AdditionSteps {
  /** Called after its first tables were created. */
  fill?(store: Store, appId: string): Promise<void>;
  /** Called when everything is complete, before the commit. */
  beforeCommit?(credentials: SystemCredentials): Promise<void>;
}

/** The registry entry of a new system, and its credentials, of which the registry stores hashes. */
export interface NewEntry {
  readonly entry: SystemEntry;
  readonly key: KeyEntry;
  readonly credentials: SystemCredentials;
}

/** Creates the registry entry of a new system. @throws AdministrationError if a value is invalid */
export function newEntry(salt: string, wanted: NewSystem): NewEntry {
  const appId = checkAppId(wanted.appId ?? newObjectId());
  const name = checkName(wanted.name ?? appId);
  const masterKey = checkKey(wanted.masterKey ?? newSecret());
  const apiKey = checkKey(wanted.apiKey ?? newSecret());
  const createdAt = Date.now();
  const hashOf = (kind: 'master' | 'apiKey', key: string) => hashKey(hashPrefix(salt, appId, kind), key);
  return {
    entry: {
      id: newObjectId(),
      appId,
      place: appId,
      name,
      createdAt,
      masterKeyHash: hashOf('master', masterKey),
      heldAt: null,
      keySalt: null,
    },
    key: { appId, name: firstKeyName, hash: hashOf('apiKey', apiKey), createdAt },
    credentials: { appId, masterKey, apiKey },
  };
}

/** Why an operator's action was refused, in one line. */
export class AdministrationError extends OperatorError {}

/** @throws AdministrationError */
export function refuse(why: string): never {
  throw new AdministrationError(why);
}

/** @throws AdministrationError if it is invalid, as the following checks do */
export function checkAppId(appId: string): string {
  return appIdPattern.test(appId) ? appId : refuse('an application id has 1 to 64 letters, digits, - or _');
}

/** Names are printed in lists, one per line. */
export function checkName(name: string): string {
  return /^[^\p{C}]{1,100}$/u.test(name) ? name : refuse('a name has 1 to 100 characters, none of them a control character');
}

export function checkKey(key: string): string {
  return keyPattern.test(key) ? key : refuse(`a key has ${keyForm}`);
}

/** Returns an operator's input in a form that fits one line. */
export function printable(text: string): string {
  return text.slice(0, 100).replace(/\p{C}/gu, '?');
}
