import { parseDate } from '@internationalized/date';
import { Button } from 'react-aria-components/Button';
import {
  Calendar,
  CalendarCell,
  CalendarGrid,
  CalendarGridBody,
  CalendarGridHeader,
  CalendarHeaderCell,
} from 'react-aria-components/Calendar';
import { DateInput, DatePicker, DateSegment, Group, Label } from 'react-aria-components/DatePicker';
import { Dialog, Heading } from 'react-aria-components/Modal';
import { Icon } from '../../ui/icons.tsx';
import { Popover } from '../parts/popover.tsx';
import { gridWords } from '../words/index.ts';

export interface DayInputProps {
  readonly label: string;
  /** `YYYY-MM-DD`. */
  readonly day: string | null;
  readonly isFirst?: boolean;
  onChange(day: string | null): void;
}

/** A day, typed by segments or chosen from a calendar. */
export function DayInput({ label, day, isFirst = false, onChange }: DayInputProps) {
  return (
    <DatePicker
      className="g-field"
      value={day === null ? null : parseDate(day)}
      onChange={(value) => onChange(value?.toString() ?? null)}
      shouldForceLeadingZeros
      firstDayOfWeek="sun"
      autoFocus={isFirst}
    >
      <Label className="label">{label}</Label>
      <Group className="input g-day">
        <DateInput className="g-date-input">{(segment) => <DateSegment segment={segment} className="g-segment" />}</DateInput>
        <Button className="button button-quiet button-icon button-small" aria-label={gridWords.filter.calendar}>
          <Icon name="calendar" />
        </Button>
      </Group>
      <Popover placement="bottom start">
        <Dialog className="g-dialog" aria-label={gridWords.filter.calendar}>
          <Calendar>
            <header className="g-month">
              <Button slot="previous" className="button button-quiet button-icon button-small">
                <span className="g-before">
                  <Icon name="chevron" />
                </span>
              </Button>
              <Heading className="g-month-name" />
              <Button slot="next" className="button button-quiet button-icon button-small">
                <Icon name="chevron" />
              </Button>
            </header>
            <CalendarGrid className="g-calendar">
              <CalendarGridHeader>
                {(name) => <CalendarHeaderCell className="g-weekday">{name}</CalendarHeaderCell>}
              </CalendarGridHeader>
              <CalendarGridBody>{(date) => <CalendarCell date={date} className="g-calendar-day" />}</CalendarGridBody>
            </CalendarGrid>
          </Calendar>
        </Dialog>
      </Popover>
    </DatePicker>
  );
}
