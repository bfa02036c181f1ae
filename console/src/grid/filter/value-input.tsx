import { useId, useState } from 'react';
import type { FieldModel } from '../../../../src/console/protocol/protocol.ts';
import { isLtr } from '../../model/text.ts';
import { parseNumber } from '../edit/parse-number.ts';
import { RecordPicker } from '../parts/record-picker.tsx';
import { gridWords } from '../words/index.ts';
import type { Input, Values } from './condition.ts';
import { DayInput } from './day-input.tsx';
import { useNames } from './use-names.ts';

export interface ValueInputProps {
  readonly input: Input;
  readonly field: FieldModel;
  readonly values: Values;
  onChange(values: Values): void;
}

/** The input for an operator's value. */
export function ValueInput({ input, field, values, onChange }: ValueInputProps) {
  const words = gridWords.filter;
  const put = (at: number, value: string | number | null) => {
    const next: (string | number)[] = [...values];
    next[at] = value ?? '';
    onChange(next);
  };
  switch (input) {
    case 'none':
      return null;
    case 'text':
      return <TextValue field={field} value={String(values[0] ?? '')} onChange={(text) => onChange([text])} />;
    case 'number':
      return <NumberValue label={words.value} value={values[0]} isFirst onChange={(number) => put(0, number)} />;
    case 'dayCount':
      return <NumberValue label={words.days} value={values[0]} isFirst onChange={(number) => put(0, number)} />;
    case 'numbers':
      return (
        <div className="g-pair">
          <NumberValue label={words.from} value={values[0]} isFirst onChange={(number) => put(0, number)} />
          <NumberValue label={words.to} value={values[1]} onChange={(number) => put(1, number)} />
        </div>
      );
    case 'day':
      return <DayInput label={words.day} day={dayAt(values, 0)} isFirst onChange={(day) => put(0, day)} />;
    case 'days':
      return (
        <div className="g-pair">
          <DayInput label={words.from} day={dayAt(values, 0)} isFirst onChange={(day) => put(0, day)} />
          <DayInput label={words.to} day={dayAt(values, 1)} onChange={(day) => put(1, day)} />
        </div>
      );
    case 'records':
      return <RecordsValue field={field} values={values} onChange={onChange} />;
  }
}

const dayAt = (values: Values, at: number) => (typeof values[at] === 'string' && values[at] !== '' ? values[at] : null);

interface TextValueProps {
  readonly field: FieldModel;
  readonly value: string;
  onChange(text: string): void;
}

function TextValue({ field, value, onChange }: TextValueProps) {
  return (
    <label className="g-field">
      <span className="label">{gridWords.filter.value}</span>
      <input
        className="input"
        type="text"
        // biome-ignore lint/a11y/noAutofocus: the user has just opened the dialog
        autoFocus
        autoComplete="off"
        dir={isLtr(field, value) ? 'ltr' : 'auto'}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}

interface NumberValueProps {
  readonly label: string;
  readonly value: string | number | undefined;
  readonly isFirst?: boolean;
  onChange(number: number | null): void;
}

function NumberValue({ label, value, isFirst, onChange }: NumberValueProps) {
  const [text, setText] = useState(value === undefined ? '' : String(value));
  const problem = useId();
  const isWrong = text.trim() !== '' && parseNumber(text) === null;
  return (
    <label className="g-field">
      <span className="label">{label}</span>
      <input
        className="input"
        type="text"
        inputMode="decimal"
        dir="ltr"
        autoComplete="off"
        // biome-ignore lint/a11y/noAutofocus: the user has just opened the dialog
        autoFocus={isFirst}
        aria-invalid={isWrong}
        aria-describedby={isWrong ? problem : undefined}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          onChange(parseNumber(event.target.value));
        }}
      />
      {isWrong ? (
        <span id={problem} className="problem">
          {gridWords.edit.notNumber}
        </span>
      ) : null}
    </label>
  );
}

function RecordsValue({ field, values, onChange }: Omit<ValueInputProps, 'input'>) {
  const ids = values.map(String);
  const fetched = useNames(field.targetClass, ids);
  const [met, setMet] = useState<Readonly<Record<string, string>>>({});
  return (
    <RecordPicker
      table={field.targetClass ?? ''}
      chosen={ids}
      names={{ ...fetched, ...met }}
      isMany
      onChange={(chosen, names) => {
        setMet(names);
        onChange(chosen);
      }}
    />
  );
}
