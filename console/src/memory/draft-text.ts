import type { JsonValue } from '../../../src/kernel/json.ts';
import type { Draft } from './draft.ts';

/** Returns a draft as text to copy. */
export function draftText(draft: Draft, labelOf: (field: string) => string): string {
  return Object.entries(draft.fields)
    .map(([name, field]) => `${labelOf(name)}: ${field.text ?? valueText(field.value)}`)
    .join('\n');
}

function valueText(value: JsonValue): string {
  if (typeof value === 'string') return value;
  return value === null ? '' : JSON.stringify(value);
}
