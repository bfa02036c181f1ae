/** What stands in the segments of a date of which some are empty and some are not; `null`: it is whole, or was not begun. */
export function begunDate(control: Element): string | null {
  const segments = [...control.querySelectorAll<HTMLElement>('[role=spinbutton]')];
  const empty = segments.filter((segment) => segment.dataset.placeholder !== undefined).length;
  return empty > 0 && empty < segments.length ? segments.map((segment) => segment.textContent).join(' ') : null;
}
