import type { Cell } from './cursor.ts';

/** Where the user was in a grid. */
export interface Place {
  readonly offset: number;
  readonly cell: Cell;
}

/** Notes the place in the entry of the history that is left, for the way back. */
export function notePlace(place: Place): void {
  history.replaceState({ ...history.state, grid: place }, '');
}

/** The place that was noted in this entry of the history. */
export function notedPlace(): Place | null {
  const place: Partial<Place> | undefined = history.state?.grid;
  return place && typeof place.offset === 'number' && typeof place.cell?.row === 'number' ? (place as Place) : null;
}
