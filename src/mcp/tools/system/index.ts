import type { Tool } from '../../definition/tool.ts';
import { getConfigFlags } from './get-config-flags.ts';
import { getSystemInfo } from './get-system-info.ts';
import { setConfigFlag } from './set-config-flag.ts';

export const systemTools: readonly Tool[] = [getSystemInfo, getConfigFlags, setConfigFlag];
