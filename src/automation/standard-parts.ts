import { perform } from './actions/index.ts';
import { callLater } from './actions/server-side-code.ts';
import { activeTriggers } from './definition/trigger-cache.ts';
import { deliverMail } from './mail/deliver.ts';
import { fires } from './matching/conditions.ts';
import type { ActionParts } from './model/action.ts';
import type { JobServices } from './run/services.ts';
import { expand, runDue } from './schedule/index.ts';

/** What jobs are worked off with, where a test gives nothing instead. */
export const standardParts = {
  triggers: activeTriggers,
  fires,
  perform,
  later: new Map([
    ['mail', deliverMail],
    ['code', callLater],
  ] as const),
  expand,
  runDue,
} satisfies Omit<JobServices, keyof ActionParts | 'hooks' | 'breaker'>;
