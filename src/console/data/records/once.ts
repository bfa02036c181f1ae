import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { MINUTE_MS } from '../../../kernel/time.ts';

const MAX_REMEMBERED = 10_000;

const done = new LRUCache<string, Promise<string>>({ max: MAX_REMEMBERED, ttl: 10 * MINUTE_MS });

/**
 * Does something once for a key, however often and at the same time it is asked for, as far as this process remembers. What failed is done
 * again when it is asked for again.
 * @param key names the request, with who sent it
 * @returns what came of the first time
 */
export function once(key: string, work: () => Promise<string>): Promise<string> {
  const before = done.get(key);
  if (before) return before;
  const result = work();
  done.set(key, result);
  result.catch(() => {
    if (done.get(key) === result) done.delete(key);
  });
  return result;
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LENGTH = 10;

/** An objectId that is the same for the same key, in any process and after a restart. */
export function idOfKey(key: string): string {
  let rest = BigInt(`0x${hash('sha256', key)}`);
  let id = '';
  for (; id.length < LENGTH; rest /= BigInt(ALPHABET.length)) id += ALPHABET[Number(rest % BigInt(ALPHABET.length))];
  return id;
}
