import { automationTools } from './automation/index.ts';
import { crmTools } from './crm/index.ts';
import { documentsTools } from './documents/index.ts';
import { filesTools } from './files/index.ts';
import { historyTools } from './history/index.ts';
import { recordsTools } from './records/index.ts';
import { reportsTools } from './reports/index.ts';
import { schemaTools } from './schema/index.ts';
import { siteTools } from './site/index.ts';
import { systemTools } from './system/index.ts';
import type { Tool } from './tool.ts';
import { usersTools } from './users/index.ts';
import { workTools } from './work/index.ts';

/** All tools (SPEC "Agent-tool layer (MCP)"): 67, in the order in which they are listed. */
export const tools: readonly Tool[] = [
  ...recordsTools,
  ...crmTools,
  ...workTools,
  ...historyTools,
  ...filesTools,
  ...usersTools,
  ...schemaTools,
  ...siteTools,
  ...automationTools,
  ...reportsTools,
  ...documentsTools,
  ...systemTools,
];
