import type { Tool } from '../tool.ts';

export const usersTools: readonly Tool[] = [];
