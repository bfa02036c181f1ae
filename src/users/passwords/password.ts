import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { verify as verifyBcrypt } from '@node-rs/bcrypt';
import { FairQueue, type Turn } from '../../admission/fair-queue.ts';

/** argon2id with the parameters that OWASP recommends: 19 MiB, two passes. Runs on other threads, as many at once as leave one core free. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Maximum number of waiting passwords, about half a minute of work; beyond it the last one of the caller with the most is refused. */
export const MAX_WAITING = 1_000;
const queue = new FairQueue({ concurrency: Math.max(1, availableParallelism() - 1), maxWaiting: MAX_WAITING });

/** Hashes a password, off the main thread. @throws unavailable (503) if too many wait */
export function hashPassword(turn: Turn, password: string): Promise<string> {
  return queue.run(turn, () => hash(password, cost));
}

let dummyHash: Promise<string> | undefined;

/** bcrypt, as Parse Server stores passwords: taken over by a migration, and replaced at the user's first sign-in. */
const importedForm = /^\$2[abxy]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
/** Each step doubles the time: a hash of cost 14 takes a second of a core. */
const MAX_IMPORTED_COST = 14;
/** A dummy hash for unknown users, of Parse Server's cost: 10. */
const DUMMY_IMPORTED_HASH = '$2b$10$y/q9cdWx3Rxla9xat8b.guRDnogDrNlQEH9q5./A65.DiZnukxDhK';

/** Whether a hash of another service can be verified here. */
export function isUsableHash(text: string): boolean {
  const cost = Number(importedForm.exec(text)?.[1] ?? Number.NaN);
  return cost >= 4 && cost <= MAX_IMPORTED_COST;
}

/** Whether a stored hash was taken over from another service. */
export const isImportedHash = (kept: string): boolean => importedForm.test(kept);

/**
 * Whether a password matches a stored hash. Takes the same time without a hash, so that the time does not reveal which users exist. Runs off
 * the main thread.
 * @param hasImported whether the system has hashes that were taken over: then one of each kind is verified, so that the time does not reveal
 * who has signed in since
 * @throws unavailable (503) if too many wait
 */
export async function isPassword(turn: Turn, password: string, kept: string | undefined, hasImported = false): Promise<boolean> {
  dummyHash ??= hash('', cost);
  const dummy = await dummyHash;
  const isImported = kept !== undefined && isImportedHash(kept);
  return queue.run(turn, async () => {
    const same = await verify(isImported ? dummy : (kept ?? dummy), password);
    if (!isImported && !hasImported) return same && kept !== undefined;
    const sameImported = await verifyBcrypt(password, isImported ? kept : DUMMY_IMPORTED_HASH);
    return (isImported ? sameImported : same) && kept !== undefined;
  });
}

// No NUL: no login could send it (users.md#password-policy).
const rules = [/^[^\0]{8,1000}$/u, /\p{Ll}/u, /\p{Lu}/u, /\p{Nd}/u];

/**
 * Whether a password meets the policy: at least 8 characters, with a lower-case letter, an upper-case letter and a digit.
 * Reference: users.md#password-policy.
 */
export function meetsPolicy(password: string): boolean {
  return password.isWellFormed() && rules.every((rule) => rule.test(password));
}
