import { useRef } from 'react';
import { useOverCell } from './use-over-cell.ts';

/** Shown beside an editor: why its text is not a valid value. */
export function Why({ id, text }: { readonly id: string; readonly text: string }) {
  const element = useRef<HTMLSpanElement>(null);
  useOverCell(element, true, 'beside');
  return (
    <span ref={element} popover="manual" id={id} role="alert" className="g-why">
      {text}
    </span>
  );
}
