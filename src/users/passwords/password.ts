import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { FairQueue, type Turn } from '../../admission/fair-queue.ts';

/**
 * argon2id with the parameters that OWASP recommends: 19 MiB, two passes. It runs on threads of its own; that many at once leave a core
 * to everybody else.
 */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Beyond so many that wait, some half a minute of work, one of who has most of them is refused. */
const MAX_WAITING = 1_000;
const queue = new FairQueue({ atOnce: Math.max(1, availableParallelism() - 1), waiting: MAX_WAITING });

/** The form in which a password is kept. Off the main thread. @throws unavailable (503) where too many wait */
export function hashPassword(turn: Turn, password: string): Promise<string> {
  return queue.run(turn, () => hash(password, cost));
}

let ofNobody: Promise<string> | undefined;

/**
 * Whether a password is the one that a hash was made of. Takes the same time where there is no hash, so that the time does not tell who
 * has an account. Off the main thread.
 * @throws unavailable (503) where too many wait
 */
export async function isPassword(turn: Turn, password: string, kept: string | undefined): Promise<boolean> {
  ofNobody ??= hash('', cost);
  const compared = kept ?? (await ofNobody);
  const same = await queue.run(turn, () => verify(compared, password));
  return same && kept !== undefined;
}

// NUL: no login could bring it (docs/decisions.md "Records").
const rules = [/^[^\0]{8,1000}$/u, /\p{Ll}/u, /\p{Lu}/u, /\p{Nd}/u];

/** SPEC "Login and session" 4: at least 8 characters, a lower-case letter, an upper-case letter and a digit. */
export function meetsPolicy(password: string): boolean {
  return password.isWellFormed() && rules.every((rule) => rule.test(password));
}
