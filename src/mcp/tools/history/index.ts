import type { Tool } from '../tool.ts';

export const historyTools: readonly Tool[] = [];
