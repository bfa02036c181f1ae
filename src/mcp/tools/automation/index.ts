import type { Tool } from '../../definition/tool.ts';
import { getTriggerLogs } from './get-trigger-logs.ts';
import { getTriggers } from './get-triggers.ts';
import { setTrigger } from './set-trigger.ts';
import { testTrigger } from './test-trigger.ts';

export const automationTools: readonly Tool[] = [getTriggers, setTrigger, getTriggerLogs, testTrigger];
