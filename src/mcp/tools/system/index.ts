import type { Tool } from '../tool.ts';

export const systemTools: readonly Tool[] = [];
