import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { MINUTE_MS } from '../../../kernel/time.ts';

const MAX_CACHED = 10_000;

const results = new LRUCache<string, Promise<string>>({ max: MAX_CACHED, ttl: 10 * MINUTE_MS });

/**
 * Executes work once per key, as far as this process remembers; repeated and concurrent calls share the result. A failure is forgotten, so that the
 * next call retries.
 * @param key identifies the request and its sender
 * @returns the result of the first call
 */
export function once(key: string, work: () => Promise<string>): Promise<string> {
  const before = results.get(key);
  if (before) return before;
  const result = work();
  results.set(key, result);
  result.catch(() => {
    if (results.get(key) === result) results.delete(key);
  });
  return result;
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LENGTH = 10;

/** Returns an objectId that depends only on the key, in any process and after a restart. */
export function idOfKey(key: string): string {
  let rest = BigInt(`0x${hash('sha256', key)}`);
  let id = '';
  for (; id.length < LENGTH; rest /= BigInt(ALPHABET.length)) id += ALPHABET[Number(rest % BigInt(ALPHABET.length))];
  return id;
}
