import type { ActionParts } from './actions/action.ts';
import { perform } from './actions/index.ts';
import { callLater } from './actions/later-code.ts';
import { activeTriggers } from './active.ts';
import { fires } from './conditions.ts';
import { deliverMail } from './mail/deliver.ts';
import type { RunParts } from './run/parts.ts';
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
} satisfies Omit<RunParts, keyof ActionParts | 'hooks' | 'holds'>;
