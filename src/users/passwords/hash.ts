import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import pLimit from 'p-limit';
import { fail } from '../../errors/fail.ts';

/**
 * argon2id with the parameters that OWASP recommends: 19 MiB, two passes. It runs on threads of its own; that many at once leave a core
 * to everybody else.
 */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const inTurn = pLimit(Math.max(1, availableParallelism() - 1));
/** Hashes that wait beyond which a further one is refused: some half a minute of work. */
const LONGEST_QUEUE = 1_000;

/** The form in which a password is kept. Off the main thread. @throws unavailable (503) where too many wait */
export function hashPassword(password: string): Promise<string> {
  return queued(() => hash(password, cost));
}

let ofNobody: Promise<string> | undefined;

/**
 * Whether a password is the one that a hash was made of. Takes the same time where there is no hash, so that the time does not tell who
 * has an account. Off the main thread.
 * @throws unavailable (503) where too many wait
 */
export async function isPassword(password: string, kept: string | undefined): Promise<boolean> {
  ofNobody ??= hash('', cost);
  const compared = kept ?? (await ofNobody);
  const same = await queued(() => verify(compared, password));
  return same && kept !== undefined;
}

function queued<T>(work: () => Promise<T>): Promise<T> {
  return inTurn.pendingCount < LONGEST_QUEUE ? inTurn(work) : fail('unavailable');
}
