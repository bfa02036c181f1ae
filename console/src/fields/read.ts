import type { ConsoleFieldType } from '../../../src/console/protocol/protocol.ts';
import type { JsonValue } from '../../../src/kernel/json.ts';

/** The parsed text of a control: a value, or the reason why it is not valid. */
export type Reading =
  | { readonly value: JsonValue }
  /** `why`: the message of the JSON parser. */
  | { readonly problem: 'number' | 'list' | 'object' | 'json'; readonly why?: string };

/** Parses a number as people type it: `1,234.5`, `-7`, with spaces. An empty text is `null`. */
export function readNumber(text: string): Reading {
  const bare = text.replace(/[\s ,‎‏₪$€]/g, '').replace(/^[−–]/, '-');
  if (bare === '') return { value: null };
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(bare)) return { problem: 'number' };
  const value = Number(bare);
  return Number.isFinite(value) ? { value } : { problem: 'number' };
}

/** Parses the JSON of a field of type Array or Object. An empty text is `null`. */
export function readJson(text: string, type: ConsoleFieldType): Reading {
  if (text.trim() === '') return { value: null };
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: 'json', why: error instanceof Error ? error.message : '' };
  }
  if (type === 'Array' && !Array.isArray(value)) return { problem: 'list' };
  if (type === 'Object' && (typeof value !== 'object' || value === null || Array.isArray(value))) return { problem: 'object' };
  return { value };
}

/** Parses the text of a control according to the field's type. */
export function readText(text: string, type: ConsoleFieldType): Reading {
  if (type === 'Number') return readNumber(text);
  if (type === 'Array' || type === 'Object') return readJson(text, type);
  return { value: text === '' ? null : text };
}
