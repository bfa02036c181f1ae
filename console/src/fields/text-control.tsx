import { useState } from 'react';
import type { JsonValue } from '../../../src/kernel/json.ts';
import { directionOf, isLong } from '../model/text.ts';
import { objectOf, sameValue } from '../model/values.ts';
import type { ControlProps } from './control.ts';
import { readText } from './read.ts';

/** A text, a number, or JSON. The typed text stays unchanged and is parsed at each key. */
export function TextControl({ id, field, value, text, describedBy, onChange }: ControlProps) {
  const { type } = field;
  const [typed, setTyped] = useState<string | null>(null);
  const shown = text ?? (typed !== null && reads(typed, value, type) ? typed : textOf(value));
  // Decided once, so that the control does not change between a line and an area while the user types.
  const [isArea] = useState(() => type === 'HTML/XML' || isJson(type) || isLong(shown) || isLongByName(field.name));
  const change = (next: string) => {
    setTyped(next);
    const reading = readText(next, type);
    if ('value' in reading) onChange(reading.value);
    else onChange(value, next);
  };
  const shared = {
    id,
    value: shown,
    dir: isJson(type) || type === 'Number' ? 'ltr' : directionOf(field, shown),
    'aria-invalid': text !== undefined,
    'aria-describedby': describedBy,
    autoComplete: 'off',
  };
  if (isArea) {
    return (
      <textarea
        {...shared}
        className={isJson(type) ? 'input code' : 'input'}
        spellCheck={!isJson(type)}
        rows={3}
        onChange={(event) => change(event.target.value)}
      />
    );
  }
  return (
    <input
      {...shared}
      className="input"
      type="text"
      inputMode={type === 'Number' ? 'decimal' : undefined}
      onChange={(event) => change(event.target.value)}
    />
  );
}

function isJson(type: ControlProps['field']['type']): boolean {
  return type === 'Array' || type === 'Object';
}

function isLongByName(name: string): boolean {
  return /comment|description|notes?$|body|message|remarks|summary/i.test(name);
}

function reads(typed: string, value: JsonValue, type: ControlProps['field']['type']): boolean {
  const reading = readText(typed, type);
  return 'value' in reading && sameValue(reading.value, value);
}

function textOf(value: JsonValue): string {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  return Array.isArray(value) || objectOf(value) ? JSON.stringify(value, null, 2) : String(value);
}
