import type { Tool } from '../tool.ts';

export const workTools: readonly Tool[] = [];
