import type { Tool } from '../../definition/tool.ts';
import { aggregateData } from './aggregate-data.ts';
import { countData } from './count-data.ts';
import { createMany } from './create-many.ts';
import { createRecord } from './create-record.ts';
import { getData } from './get-data.ts';
import { getLookupValues } from './get-lookup-values.ts';
import { getRecord } from './get-record.ts';
import { getRelatedRecords } from './get-related-records.ts';
import { getSchema } from './get-schema.ts';
import { getTableStats } from './get-table-stats.ts';
import { updateMany } from './update-many.ts';
import { updateRecord } from './update-record.ts';
import { upsertRecord } from './upsert-record.ts';
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
