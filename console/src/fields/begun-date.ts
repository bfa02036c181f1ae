/** Returns the text of a date's segments if some are filled and some are empty; `null` if all are filled or all are empty. */
export function begunDate(control: Element): string | null {
  const segments = [...control.querySelectorAll<HTMLElement>('[role=spinbutton]')];
  const empty = segments.filter((segment) => segment.dataset.placeholder !== undefined).length;
  return empty > 0 && empty < segments.length ? segments.map((segment) => segment.textContent).join(' ') : null;
}
