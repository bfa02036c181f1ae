import {
  type CalendarDate,
  parseAbsolute,
  toCalendarDate,
  toCalendarDateTime,
  toZoned,
  type ZonedDateTime,
} from '@internationalized/date';
import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { DateField, DateInput, DateSegment, type DateValue } from 'react-aria-components/DateField';
import { useSystem } from '../../api/system.tsx';
import { begunDate } from '../../fields/begun-date.ts';
import { dateOf, wireDate } from '../../model/values.ts';
import { gridWords } from '../words/index.ts';
import type { CellEditorProps } from './cell-editor.tsx';
import type { EditStep } from './edit-state.ts';
import { Why } from './why.tsx';

/** A Date, typed segment by segment in the system's zone; without a time if that is midnight. */
export function DateEditor({ edit, label, actions }: CellEditorProps) {
  const { timeZone } = useSystem().model;
  const first = zonedOf(dateOf(edit.value), timeZone);
  // A newly typed date has a time if the previous value had one.
  const before = first ?? zonedOf(dateOf(edit.base), timeZone);
  const isDay = before === null || (before.hour === 0 && before.minute === 0);
  const [value, setValue] = useState<DateValue | null>(first && (isDay ? toCalendarDate(first) : toCalendarDateTime(first)));
  const [why, setWhy] = useState<string | null>(null);
  const element = useRef<HTMLDivElement>(null);
  const isLeft = useRef(false);
  const message = useId();
  const leave = (step: EditStep) => {
    if (isLeft.current) return;
    const begun = element.current && begunDate(element.current);
    // An incomplete date is not committed, so it does not delete the previous value.
    if (begun !== null && step !== null) return setWhy(gridWords.edit.notDate);
    isLeft.current = true;
    if (begun !== null) actions.refuse('', gridWords.edit.notDate);
    else if (value !== null) actions.commit(wireDate(toZoned(value as CalendarDate, timeZone).toDate()), edit.names, step);
    // Neither does an editor that was opened empty and left untouched.
    else actions.commit(first === null ? edit.base : null, edit.names, step);
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
    // biome-ignore lint/a11y/noStaticElementInteractions: it handles the keys of its segments
    <div
      ref={element}
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
        onChange={(next) => {
          setValue(next);
          setWhy(null);
        }}
        isInvalid={why !== null}
        {...(why === null ? {} : { 'aria-describedby': message })}
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
      {why === null ? null : <Why id={message} text={why} />}
    </div>
  );
}

function zonedOf(date: Date | null, timeZone: string): ZonedDateTime | null {
  return date && parseAbsolute(date.toISOString(), timeZone);
}
