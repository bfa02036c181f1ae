import type { Tool } from '../../definition/tool.ts';
import { addNoteTool, assignOwnerTool, convertLeadTool } from './customers.ts';
import { getCustomerCard } from './get-customer-card.ts';
import { getPipelineSummary } from './get-pipeline-summary.ts';
import { importRecords } from './import-records.ts';
import { findDuplicates, searchRecords } from './search.ts';

export const crmTools: readonly Tool[] = [
  searchRecords,
  findDuplicates,
  getCustomerCard,
  importRecords,
  convertLeadTool,
  assignOwnerTool,
  getPipelineSummary,
  addNoteTool,
];
