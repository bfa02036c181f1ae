import type { FieldModel, TableModel } from '../../../src/console/protocol/protocol.ts';
import { settings } from '../settings.ts';
import { tableNames } from '../words/table-names.ts';
import { shortened } from './text.ts';

/** Maximum characters of a label: more than any label that is meant to be read. */
const MAX_LABEL = 200;

/** Returns a table's label: from the system, else its usual name in this language, else its name as words. */
export function tableLabel(table: Pick<TableModel, 'name' | 'label'>): string {
  const usual = settings.language === 'he' ? tableNames.get(table.name) : undefined;
  return labelText(table.label) || usual || readableName(table.name);
}

/** Returns a field's label. `system`: labels of system fields, which have none of their own. */
export function fieldLabel(
  field: Pick<FieldModel, 'name' | 'label' | 'type' | 'targetClass'>,
  system: Readonly<Record<string, string>> = {},
): string {
  const label = labelText(field.label);
  if (label) return label;
  if (Object.hasOwn(system, field.name)) return system[field.name] as string;
  const selected = /^array_(.+)_Pointer_/.exec(field.name)?.[1];
  if (selected) return readableName(selected);
  return readableName(field.type === 'Pointer' ? field.name.replace(/(?<=.)_?Id$/, '') : field.name);
}

/** Returns a technical name as words: `FirstName`, `first_name` → `First name`; runs of capitals stay, as in `SMSTemplates` → `SMS templates`. */
export function readableName(name: string): string {
  const parts = name
    .replace(/[_\s]+/g, ' ')
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .trim()
    .split(' ');
  const words = parts.map((part, index) => (index > 0 && /^\p{Lu}\p{Ll}*$/u.test(part) ? part.toLowerCase() : part));
  const text = words.join(' ');
  return text ? text.charAt(0).toUpperCase() + text.slice(1) : name;
}

function labelText(label: string | undefined): string {
  return shortened(label ?? '', MAX_LABEL).trim();
}
