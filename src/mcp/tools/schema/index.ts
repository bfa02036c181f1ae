import type { Tool } from '../tool.ts';

export const schemaTools: readonly Tool[] = [];
