import type { Tool } from '../tool.ts';
import { createMany } from './create-many.ts';
import { getData } from './get-data.ts';

export const recordsTools: readonly Tool[] = [getData, createMany];
