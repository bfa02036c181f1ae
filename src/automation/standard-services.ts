import { perform } from './actions/index.ts';
import { attemptCall } from './actions/server-side-code.ts';
import { activeTriggers } from './definition/trigger-cache.ts';
import { deliverMail } from './mail/deliver.ts';
import { fires } from './matching/conditions.ts';
import type { ActionServices } from './model/action.ts';
import type { JobServices } from './run/services.ts';
import { expand, runDue } from './schedule/index.ts';

/** The standard services of jobs, which tests can replace. */
export const standardServices = {
  triggers: activeTriggers,
  fires,
  perform,
  retryable: new Map([
    ['mail', deliverMail],
    ['code', attemptCall],
  ] as const),
  expand,
  runDue,
} satisfies Omit<JobServices, keyof ActionServices | 'hooks' | 'breaker'>;
