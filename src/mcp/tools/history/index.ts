import type { Tool } from '../../definition/tool.ts';
import { getRecentChanges } from './get-recent-changes.ts';
import { getRequestLog } from './get-request-log.ts';
import { getTimeline } from './get-timeline.ts';

export const historyTools: readonly Tool[] = [getTimeline, getRecentChanges, getRequestLog];
