import type { Tool } from '../tool.ts';

export const filesTools: readonly Tool[] = [];
