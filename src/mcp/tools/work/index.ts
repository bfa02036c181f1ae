import type { Tool } from '../../definition/tool.ts';
import { completeTask } from './complete-task.ts';
import { createTask } from './create-task.ts';
import { getCalendar } from './get-calendar.ts';
import { getTasks } from './get-tasks.ts';
import { scheduleActivity } from './schedule-activity.ts';

export const workTools: readonly Tool[] = [createTask, completeTask, getTasks, scheduleActivity, getCalendar];
