import { type RefObject, useLayoutEffect } from 'react';

/**
 * Shows an element of a cell in the top layer, inside the window; within its row it would be clipped.
 * @param place over the cell, or beside it, below or above
 */
export function useOverCell(element: RefObject<HTMLElement | null>, isShown: boolean, place: 'over' | 'beside'): void {
  useLayoutEffect(() => {
    const one = element.current;
    const cell = one?.closest('[role=gridcell]');
    if (!isShown || !one || !cell) return;
    one.showPopover();
    const move = () => {
      const at = cell.getBoundingClientRect();
      if (place === 'over') one.style.minWidth = `${at.width}px`;
      const { offsetWidth, offsetHeight } = one;
      const x = getComputedStyle(cell).direction === 'rtl' ? at.right - offsetWidth : at.left;
      const isLow = at.bottom + offsetHeight > innerHeight;
      const y = place === 'over' ? at.top : isLow ? at.top - offsetHeight : at.bottom;
      one.style.left = `${within(x, innerWidth - offsetWidth)}px`;
      one.style.top = `${within(y, innerHeight - offsetHeight)}px`;
    };
    move();
    addEventListener('scroll', move, true);
    addEventListener('resize', move);
    return () => {
      removeEventListener('scroll', move, true);
      removeEventListener('resize', move);
    };
  }, [element, isShown, place]);
}

const within = (value: number, most: number) => Math.max(0, Math.min(value, most));
