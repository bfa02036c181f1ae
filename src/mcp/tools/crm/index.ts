import type { Tool } from '../../definition/tool.ts';
import { addNoteTool, assignOwnerTool, convertLeadTool, getPipelineSummary, importRecords } from './customers.ts';
import { getCustomerCard } from './get-customer-card.ts';
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
