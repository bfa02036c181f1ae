import type { Tool } from '../../definition/tool.ts';
import { aggregateData } from './aggregate-data.ts';
import { createMany, createRecord } from './create.ts';
import { getLookupValues } from './get-lookup-values.ts';
import { getRelatedRecords } from './get-related-records.ts';
import { countData, getData, getRecord } from './read.ts';
import { getSchema, getTableStats } from './tables.ts';
import { updateMany, updateRecord, upsertRecord } from './update.ts';
import { validateRecords } from './validate-records.ts';

export const recordsTools: readonly Tool[] = [
  getSchema,
  getData,
  getRecord,
  countData,
  aggregateData,
  getRelatedRecords,
  getLookupValues,
  getTableStats,
  validateRecords,
  createRecord,
  createMany,
  updateRecord,
  updateMany,
  upsertRecord,
];
