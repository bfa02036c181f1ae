import { CalendarDate, parseAbsolute, toCalendarDate, today, toZoned, type ZonedDateTime } from '@internationalized/date';
import { type FocusEvent, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import {
  Calendar,
  CalendarCell,
  CalendarGrid,
  CalendarGridBody,
  CalendarGridHeader,
  CalendarHeaderCell,
} from 'react-aria-components/Calendar';
import { DateInput, DatePicker, DateSegment, Group } from 'react-aria-components/DatePicker';
import { I18nProvider } from 'react-aria-components/I18nProvider';
import { Dialog, Heading } from 'react-aria-components/Modal';
import { Popover } from 'react-aria-components/Popover';
import { useSystem } from '../api/system.tsx';
import { knownZone } from '../model/format.ts';
import { dateOf, wireDate } from '../model/values.ts';
import { Icon } from '../ui/icons.tsx';
import { locale, words } from '../words/index.ts';
import { begunDate } from './begun-date.ts';
import type { ControlProps } from './control.ts';
import styles from './date-control.module.css';

/** A day, or a day and a time, in the system's time zone, typed segment by segment. */
export default function DateControl({ id, labelId, field, value, text, describedBy, onChange }: ControlProps) {
  const zone = knownZone(useSystem().model.timeZone);
  const date = dateOf(value);
  const zoned = date ? parseAbsolute(date.toISOString(), zone) : null;
  const hasTime = zoned !== null && (zoned.hour > 0 || zoned.minute > 0);
  const [wantsTime, setWantsTime] = useState(() => hasTime || /time$|at$/i.test(field.name));
  const isTimed = wantsTime || hasTime;
  const change = (next: ZonedDateTime | CalendarDate | null) => {
    if (!next) return onChange(null);
    const moment = next instanceof CalendarDate ? toZoned(next, zone) : next;
    onChange(wireDate(moment.toDate()));
  };
  // An incomplete date is reported when the control is left; the previous value does not silently stay.
  const leave = (event: FocusEvent) => {
    if (event.currentTarget.contains(event.relatedTarget)) return;
    const begun = begunDate(event.currentTarget);
    if (begun !== null) onChange(value, begun);
    else if (text !== undefined) onChange(value);
  };
  const toggleTime = () => {
    if (isTimed && zoned) change(toCalendarDate(zoned));
    setWantsTime(!isTimed);
  };
  return (
    <I18nProvider locale={locale}>
      <div className={styles.date}>
        <DatePicker
          key={String(isTimed)}
          id={id}
          aria-labelledby={labelId}
          {...(describedBy ? { 'aria-describedby': describedBy } : {})}
          className={styles.picker as string}
          isInvalid={text !== undefined}
          onBlur={leave}
          value={zoned && !isTimed ? toCalendarDate(zoned) : zoned}
          placeholderValue={isTimed ? toZoned(today(zone), zone) : today(zone)}
          granularity={isTimed ? 'minute' : 'day'}
          hourCycle={24}
          hideTimeZone
          shouldForceLeadingZeros
          firstDayOfWeek="sun"
          onChange={(next) => change(next as ZonedDateTime | CalendarDate | null)}
        >
          <Group className={`input ${styles.box}`}>
            <DateInput className={styles.segments as string}>
              {(segment) => <DateSegment segment={segment} className={styles.segment as string} />}
            </DateInput>
            <Button className={styles.open as string}>
              <Icon name="calendar" />
            </Button>
          </Group>
          <Popover className={styles.popover as string} placement="bottom start">
            <Dialog className={styles.dialog as string}>
              <Calendar>
                <header className={styles.head}>
                  <Button slot="previous" className="button button-quiet button-icon">
                    <Mirrored />
                  </Button>
                  <Heading className={styles.month as string} />
                  <Button slot="next" className="button button-quiet button-icon">
                    <Icon name="chevron" />
                  </Button>
                </header>
                <CalendarGrid className={styles.grid as string}>
                  <CalendarGridHeader>
                    {(day) => <CalendarHeaderCell className={styles.weekday as string}>{day}</CalendarHeaderCell>}
                  </CalendarGridHeader>
                  <CalendarGridBody>{(day) => <CalendarCell date={day} className={styles.day as string} />}</CalendarGridBody>
                </CalendarGrid>
              </Calendar>
            </Dialog>
          </Popover>
        </DatePicker>
        {value !== null && (
          <button
            type="button"
            className="button button-quiet button-icon button-small"
            aria-label={words.fields.clear}
            onClick={() => onChange(null)}
          >
            <Icon name="close" size={14} />
          </button>
        )}
        <button
          type="button"
          className="button button-quiet button-icon button-small"
          aria-label={words.fields.time}
          title={isTimed ? words.fields.removeTime : words.fields.addTime}
          aria-pressed={isTimed}
          onClick={toggleTime}
        >
          <Icon name="clock" />
        </button>
      </div>
    </I18nProvider>
  );
}

/** The arrow to the previous month. */
function Mirrored() {
  return (
    <span className={styles.before}>
      <Icon name="chevron" />
    </span>
  );
}
