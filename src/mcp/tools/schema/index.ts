import type { Tool } from '../../definition/tool.ts';
import { getTerminologyDictionary, setFieldLabels, setTerminologyDictionary } from './dictionary.ts';
import { setTablePermissions } from './set-table-permissions.ts';
import { setTableTimeline } from './set-table-timeline.ts';
import { addFields, createTable } from './tables.ts';

export const schemaTools: readonly Tool[] = [
  ...[createTable, addFields, setFieldLabels, setTablePermissions, setTableTimeline],
  ...[getTerminologyDictionary, setTerminologyDictionary],
];
