import type { Tool } from '../tool.ts';

export const siteTools: readonly Tool[] = [];
