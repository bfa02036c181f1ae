import { useRef } from 'react';
import { useOverCell } from './use-over-cell.ts';

/** Beside an editor: why what stands in it is no value. */
export function Why({ id, text }: { readonly id: string; readonly text: string }) {
  const element = useRef<HTMLSpanElement>(null);
  useOverCell(element, true, 'beside');
  return (
    <span ref={element} popover="manual" id={id} role="alert" className="g-why">
      {text}
    </span>
  );
}
