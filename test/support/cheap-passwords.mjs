/** Preloaded by services under test: makes new password hashes cheap. Hashes name their cost, so they are verified as usual. */
import { createRequire } from 'node:module';
import { isMainThread } from 'node:worker_threads';

// Passwords are hashed on the main thread's behalf alone.
if (isMainThread) {
  /** @type {{ hash: typeof import('@node-rs/argon2').hash }} */
  const argon2 = createRequire(import.meta.url)('@node-rs/argon2');
  const { hash } = argon2;
  argon2.hash = (password, options, ...rest) => hash(password, { ...options, memoryCost: 64, timeCost: 1 }, ...rest);
}
