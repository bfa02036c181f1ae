import { LRUCache } from 'lru-cache';
import { isInDoubt } from '../../../errors/fail.ts';
import { DAY_MS } from '../../../kernel/time.ts';

const MAX_REMEMBERED = 10_000;

const done = new LRUCache<string, Promise<string>>({ max: MAX_REMEMBERED, ttl: DAY_MS });

/**
 * Does something once for a key, however often and at the same time it is asked for, as far as this process remembers: the newest ten
 * thousand of a day. What was refused is done again when it is asked for again; what may have been done is not.
 * @param key names the request, with who sent it
 * @returns what came of the first time
 */
export function once(key: string, work: () => Promise<string>): Promise<string> {
  const before = done.get(key);
  if (before) return before;
  const result = work();
  done.set(key, result);
  result.catch((error: unknown) => {
    if (!isInDoubt(error) && done.get(key) === result) done.delete(key);
  });
  return result;
}
