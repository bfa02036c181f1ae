import {
  type CalendarDate,
  parseAbsolute,
  toCalendarDate,
  toCalendarDateTime,
  toZoned,
  type ZonedDateTime,
} from '@internationalized/date';
import { type KeyboardEvent, useRef, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { DateField, DateInput, DateSegment, type DateValue } from 'react-aria-components/DateField';
import { useSystem } from '../../api/system.tsx';
import { dateOf, wireDate } from '../../model/values.ts';
import { gridWords } from '../words/index.ts';
import type { CellEditorProps } from './cell-editor.tsx';
import type { EditStep } from './edit-state.ts';

/** A Date, by its parts, in the system's zone; without the time where that is midnight. */
export function DateEditor({ edit, label, actions }: CellEditorProps) {
  const { timeZone } = useSystem().model;
  const first = zonedOf(dateOf(edit.value), timeZone);
  const isDay = first === null || (first.hour === 0 && first.minute === 0);
  const [value, setValue] = useState<DateValue | null>(first && (isDay ? toCalendarDate(first) : toCalendarDateTime(first)));
  const isLeft = useRef(false);
  const leave = (step: EditStep) => {
    if (isLeft.current) return;
    isLeft.current = true;
    actions.commit(value === null ? null : wireDate(toZoned(value as CalendarDate, timeZone).toDate()), edit.names, step);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      isLeft.current = true;
      actions.cancel();
    } else if (event.key === 'Enter') {
      event.preventDefault();
      event.stopPropagation();
      leave(0);
    } else if (event.key === 'Tab') {
      event.preventDefault();
      event.stopPropagation();
      leave(event.shiftKey ? -1 : 1);
    }
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it hears the keys of the parts inside
    <div
      className="g-editor g-editor-date"
      onKeyDownCapture={onKeyDown}
      onKeyDown={(event) => event.stopPropagation()}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) leave(null);
      }}
    >
      <DateField
        aria-label={gridWords.edit.label(label)}
        value={value}
        onChange={setValue}
        granularity={isDay ? 'day' : 'minute'}
        hourCycle={24}
        shouldForceLeadingZeros
        autoFocus
      >
        <DateInput className="g-date-input">{(segment) => <DateSegment segment={segment} className="g-segment" />}</DateInput>
      </DateField>
      <Button
        className="button button-quiet button-icon button-small"
        aria-label={gridWords.edit.clear}
        onPress={() => {
          isLeft.current = true;
          actions.commit(null, edit.names, 0);
        }}
      >
        ×
      </Button>
    </div>
  );
}

function zonedOf(date: Date | null, timeZone: string): ZonedDateTime | null {
  return date && parseAbsolute(date.toISOString(), timeZone);
}
