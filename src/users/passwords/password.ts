import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { verify as verifyBcrypt } from '@node-rs/bcrypt';
import { FairQueue, type Turn } from '../../admission/fair-queue.ts';

/**
 * argon2id with the parameters that OWASP recommends: 19 MiB, two passes. It runs on threads of its own; that many at once leave a core
 * to everybody else.
 */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Beyond so many that wait, some half a minute of work, one of who has most of them is refused. */
const MAX_WAITING = 1_000;
const queue = new FairQueue({ concurrency: Math.max(1, availableParallelism() - 1), maxWaiting: MAX_WAITING });

/** The form in which a password is kept. Off the main thread. @throws unavailable (503) where too many wait */
export function hashPassword(turn: Turn, password: string): Promise<string> {
  return queue.run(turn, () => hash(password, cost));
}

let ofNobody: Promise<string> | undefined;

/** bcrypt, as Parse Server keeps passwords: taken over by a migration, and replaced when their users first sign in. */
const importedForm = /^\$2[abxy]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
/** A step more doubles the time: a hash of cost 14 takes a second of a core. */
const MAX_IMPORTED_COST = 14;
/** A hash that nobody's password is compared with, of the cost that Parse Server has: 10. */
const importedOfNobody = '$2b$10$y/q9cdWx3Rxla9xat8b.guRDnogDrNlQEH9q5./A65.DiZnukxDhK';

/** Whether a hash of another service can be verified here. */
export function isUsableHash(text: string): boolean {
  const cost = Number(importedForm.exec(text)?.[1] ?? Number.NaN);
  return cost >= 4 && cost <= MAX_IMPORTED_COST;
}

/** Whether what is kept was taken over from another service. */
export const isImportedHash = (kept: string): boolean => importedForm.test(kept);

/**
 * Whether a password is the one that a hash was made of. Takes the same time where there is no hash, so that the time does not tell who
 * has an account. Off the main thread.
 * @param hasImported whether the system has hashes that were taken over: one of each kind is verified then, so that the time does not tell
 *   who has signed in since
 * @throws unavailable (503) where too many wait
 */
export async function isPassword(turn: Turn, password: string, kept: string | undefined, hasImported = false): Promise<boolean> {
  ofNobody ??= hash('', cost);
  const nobody = await ofNobody;
  const isImported = kept !== undefined && isImportedHash(kept);
  return queue.run(turn, async () => {
    const same = await verify(isImported ? nobody : (kept ?? nobody), password);
    if (!isImported && !hasImported) return same && kept !== undefined;
    const sameImported = await verifyBcrypt(password, isImported ? kept : importedOfNobody);
    return (isImported ? sameImported : same) && kept !== undefined;
  });
}

// NUL: no login could bring it (docs/decisions.md "Records").
const rules = [/^[^\0]{8,1000}$/u, /\p{Ll}/u, /\p{Lu}/u, /\p{Nd}/u];

/** SPEC "Login and session" 4: at least 8 characters, a lower-case letter, an upper-case letter and a digit. */
export function meetsPolicy(password: string): boolean {
  return password.isWellFormed() && rules.every((rule) => rule.test(password));
}
