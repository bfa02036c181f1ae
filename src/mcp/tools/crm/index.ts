import type { Tool } from '../../definition/tool.ts';
import { addNote } from './add-note.ts';
import { assignOwner } from './assign-owner.ts';
import { convertLead } from './convert-lead.ts';
import { findDuplicates } from './find-duplicates.ts';
import { getCustomerCard } from './get-customer-card.ts';
import { getPipelineSummary } from './get-pipeline-summary.ts';
import { importRecords } from './import-records.ts';
import { searchRecords } from './search-records.ts';

export const crmTools: readonly Tool[] = [
  searchRecords,
  findDuplicates,
  getCustomerCard,
  importRecords,
  convertLead,
  assignOwner,
  getPipelineSummary,
  addNote,
];
