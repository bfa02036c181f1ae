/** Preloaded by services under test: makes new password hashes cheap. A hash contains its cost, so it is verified as usual. */
import { createRequire } from 'node:module';
import { isMainThread } from 'node:worker_threads';

// Preloads run in every thread, but only the main thread hashes passwords.
if (isMainThread) {
  const argon2 = createRequire(import.meta.url)('@node-rs/argon2') as typeof import('@node-rs/argon2');
  const { hash } = argon2;
  argon2.hash = (password, options, signal) => hash(password, { ...options, memoryCost: 64, timeCost: 1 }, signal);
}
