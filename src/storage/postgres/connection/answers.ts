import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from './database.ts';
import type { SharedLinks } from './shared-pool.ts';

/** Milliseconds after which a question stands behind others, and in which a connection was heard that is alive. */
const BEHIND_MS = 500;
const HEARD_MS = 150;

/** Resolves where the database answers, be it those before us in a long line. @throws unavailable, timeout */
export async function answers(database: Pick<Database, 'short'>, shared: SharedLinks): Promise<void> {
  const asked = database.short({ text: 'SELECT 1', params: [] });
  const others = wait(BEHIND_MS, undefined, { ref: false }).then(() =>
    shared.heardSince(performance.now() - HEARD_MS) ? undefined : asked,
  );
  others.catch(() => {});
  await Promise.race([asked, others]);
}
