import { agentLimits } from './limits/agents.ts';
import { triggerLimits } from './limits/automation.ts';
import { fileLimits, functionLimits } from './limits/files.ts';
import type { Limit } from './limits/limit.ts';
import { queryLimits, recordLimits } from './limits/records.ts';
import { requestLimits } from './limits/requests.ts';
import { transferLimits } from './limits/transfer.ts';
import { userLimits } from './limits/users.ts';
import { paragraphs, table } from './page.ts';

/** The section of limits.md. The numbers come from the source; what is written here of a limit is its name and what happens beyond it. */
export function limitSections(): string[] {
  const groups = [
    ...requestLimits,
    ...queryLimits,
    ...recordLimits,
    ...fileLimits,
    ...functionLimits,
    ...triggerLimits,
    ...agentLimits,
    ...userLimits,
    ...transferLimits,
  ];
  return [paragraphs(...groups.flatMap(({ heading, limits }) => [heading, tableOf(limits)]))];
}

function tableOf(limits: readonly Limit[]): string {
  return table(
    ['Limit', 'Value', 'Beyond it'],
    limits.map(({ of, value, beyond, see }) => [`${of.charAt(0).toUpperCase()}${of.slice(1)}`, value, `[${beyond}](${see})`]),
  );
}
