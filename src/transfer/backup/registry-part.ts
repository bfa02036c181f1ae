import { z } from 'zod';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { KeyEntry, SystemEntry } from '../../storage/registry.ts';
import { REGISTRY_NAME } from './manifest.ts';

const hash = z.string().min(1).max(200);
/** Name of a system or key; printable, since it appears in lists. */
const name = z.string().regex(/^[^\p{C}]{1,100}$/u);
const keys = z.array(z.object({ name, hash, createdAt: z.int() }));

const registry = z.object({
  appId: z.string(),
  name,
  createdAt: z.int(),
  /** Salt of the key hashes, used together with the application id. */
  salt: z.string().min(1).max(200),
  masterKeyHash: hash,
  keys: keys.refine((all) => new Set(all.map((key) => key.name)).size === all.length),
});

/** The registry entry of a system: hashes of its keys, not the keys. */
export type RegistryPart = z.infer<typeof registry>;

export function registryText(
  { appId, name, createdAt, masterKeyHash }: SystemEntry,
  keys: readonly KeyEntry[],
  salt: string,
): string {
  const part: RegistryPart = {
    appId,
    name,
    createdAt,
    salt,
    masterKeyHash,
    keys: keys.map((key) => ({ name: key.name, hash: key.hash, createdAt: key.createdAt })),
  };
  return JSON.stringify(part);
}

/** Parses a registry entry. @param appId of the backup @throws OperatorError if it is malformed, or belongs to another system */
export function readRegistry(text: string, appId: string): RegistryPart {
  try {
    return registry.extend({ appId: z.literal(appId) }).parse(JSON.parse(text));
  } catch (error) {
    throw new OperatorError(`${REGISTRY_NAME} is not what it should be`, { cause: error });
  }
}
