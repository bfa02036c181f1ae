import type { Cell } from './cursor.ts';

/** The user's position in a grid. */
export interface Place {
  readonly offset: number;
  readonly cell: Cell;
}

/** Stores the position in the history entry that is left, for the way back. */
export function notePlace(place: Place): void {
  history.replaceState({ ...history.state, grid: place }, '');
}

/** Returns the position stored in this history entry. */
export function notedPlace(): Place | null {
  const place: Partial<Place> | undefined = history.state?.grid;
  return place && typeof place.offset === 'number' && typeof place.cell?.row === 'number' ? (place as Place) : null;
}
