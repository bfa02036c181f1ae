import type { Tool } from '../../definition/tool.ts';
import { addFields } from './add-fields.ts';
import { createTable } from './create-table.ts';
import { getTerminologyDictionary } from './get-terminology-dictionary.ts';
import { setFieldLabels } from './set-field-labels.ts';
import { setTablePermissions } from './set-table-permissions.ts';
import { setTableTimeline } from './set-table-timeline.ts';
import { setTerminologyDictionary } from './set-terminology-dictionary.ts';

export const schemaTools: readonly Tool[] = [
  ...[createTable, addFields, setFieldLabels, setTablePermissions, setTableTimeline],
  ...[getTerminologyDictionary, setTerminologyDictionary],
];
