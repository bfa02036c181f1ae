import type { Tool } from '../tool.ts';

export const crmTools: readonly Tool[] = [];
