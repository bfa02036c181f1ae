import type { Tool } from '../tool.ts';

export const reportsTools: readonly Tool[] = [];
