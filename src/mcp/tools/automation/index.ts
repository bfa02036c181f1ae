import type { Tool } from '../../definition/tool.ts';
import { getTriggerLogs } from './get-trigger-logs.ts';
import { testTrigger } from './test-trigger.ts';
import { getTriggers, setTrigger } from './triggers.ts';

export const automationTools: readonly Tool[] = [getTriggers, setTrigger, getTriggerLogs, testTrigger];
