import { useEffect } from 'react';
import type { ChangesAnswer } from '../../../src/console/protocol/protocol.ts';
import { call } from './client.ts';
import { ApiFailure } from './failure.ts';
import { keys, outdate } from './query-client.ts';
import { currentStatus, onStatus } from './status.ts';

const EVERY_MS = 2000;
/** Delay after an error answer. */
const AFTER_ERROR_MS = 10_000;

/** Where watching begins, by system. */
const marks = new Map<string, string>();

/** Records where watching of a system begins. Await it before reading anything that others may change. */
export async function markChanges(appId: string, signal: AbortSignal): Promise<void> {
  const { now } = await call<ChangesAnswer>(appId, 'GET', 'changes', { signal });
  marks.set(appId, now);
}

/**
 * Watches a system while the page is visible and refetches what others changed. It also detects that a lost service is back, and then refetches every
 * query of the page.
 */
export function useChanges(appId: string): void {
  useEffect(() => {
    const end = new AbortController();
    let since = marks.get(appId) ?? '';
    let timer = 0;
    let isAsking = false;
    const later = (delay: number) => {
      clearTimeout(timer);
      if (!end.signal.aborted) timer = window.setTimeout(ask, delay);
    };
    const ask = async () => {
      if (isAsking || document.hidden || currentStatus().isSignedOut) return;
      isAsking = true;
      const wasOffline = currentStatus().isOffline;
      try {
        const path = `changes${since ? `?since=${encodeURIComponent(since)}` : ''}`;
        const answer = await call<ChangesAnswer>(appId, 'GET', path, { signal: end.signal });
        since = answer.now;
        renew(appId, answer, wasOffline);
        later(EVERY_MS);
      } catch (error) {
        later(error instanceof ApiFailure ? AFTER_ERROR_MS : EVERY_MS);
      } finally {
        isAsking = false;
      }
    };
    const now = () => later(0);
    const endStatus = onStatus(now);
    document.addEventListener('visibilitychange', now, { signal: end.signal });
    addEventListener('online', now, { signal: end.signal });
    now();
    return () => {
      end.abort();
      endStatus();
      clearTimeout(timer);
    };
  }, [appId]);
}

function renew(appId: string, answer: ChangesAnswer, wasOffline: boolean): void {
  if (answer.isModelChanged) outdate({ queryKey: keys.model(appId) });
  if (wasOffline) {
    outdate();
    return;
  }
  for (const table of answer.tables) outdate({ queryKey: keys.table(appId, table) });
  if (answer.tables.length > 0) outdate({ queryKey: keys.related(appId) });
}
