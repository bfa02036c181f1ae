import type { Tool } from '../../definition/tool.ts';
import { getTerminologyDictionary, setFieldLabels, setTerminologyDictionary } from './dictionary.ts';
import { setTablePermissionsTool } from './set-table-permissions.ts';
import { setTableTimeline } from './set-table-timeline.ts';
import { addFieldsTool, createTableTool } from './tables.ts';

export const schemaTools: readonly Tool[] = [
  ...[createTableTool, addFieldsTool, setFieldLabels, setTablePermissionsTool, setTableTimeline],
  ...[getTerminologyDictionary, setTerminologyDictionary],
];
