import { isJsonObject, type JsonValue, own } from '../../kernel/json.ts';

/** A page's components: `{_id, type, …, children?}`. Pages that others made may hold anything, which is passed over. */
export type Components = JsonValue[];

/** Where a component is. */
export interface Place {
  readonly component: JsonValue;
  /** The list that holds it. */
  readonly list: Components;
  readonly index: number;
  /** `_id`s from the top, with slashes between; the index for a component without one. */
  readonly path: string;
}

/** The components of a page; empty where it has none. */
export const componentsOf = (value: JsonValue | undefined): Components => (Array.isArray(value) ? value : []);

/** The children of a component, the list itself; an empty list where it has none. */
export const childrenOf = (component: JsonValue): Components =>
  isJsonObject(component) ? componentsOf(own(component, 'children')) : [];

export const idOf = (component: JsonValue): string | undefined => {
  const id = isJsonObject(component) ? own(component, '_id') : undefined;
  return typeof id === 'string' && id !== '' ? id : undefined;
};

const placeIn = (list: Components, index: number, base: string): Place => {
  const component = list[index] as JsonValue;
  return { component, list, index, path: `${base === '' ? '' : `${base}/`}${idOf(component) ?? index}` };
};

/** All components, those above before those below. */
export function* everyComponent(list: Components, base = ''): Generator<Place> {
  for (let index = 0; index < list.length; index++) {
    const place = placeIn(list, index, base);
    yield place;
    yield* everyComponent(childrenOf(place.component), place.path);
  }
}

/**
 * The component at a path: `_id`s or indexes with slashes between. A path that begins with an `_id` finds it however deep it is.
 * @returns `undefined` where there is none
 */
export function findComponent(roots: Components, path: string): Place | undefined {
  const [first = '', ...rest] = path.split('/');
  let place = step(roots, first, '') ?? anywhere(roots, first);
  for (const segment of rest) {
    if (!place) return undefined;
    place = step(childrenOf(place.component), segment, place.path);
  }
  return place;
}

function step(list: Components, segment: string, base: string): Place | undefined {
  const named = list.findIndex((component) => idOf(component) === segment);
  const index = named < 0 && /^\d{1,6}$/.test(segment) ? Number(segment) : named;
  return index >= 0 && index < list.length ? placeIn(list, index, base) : undefined;
}

function anywhere(roots: Components, id: string): Place | undefined {
  for (const place of everyComponent(roots)) if (idOf(place.component) === id) return place;
  return undefined;
}

/** How many components there are, and how many levels. */
export function sizeOf(roots: Components): { count: number; depth: number } {
  let count = 0;
  let depth = 0;
  const walk = (list: Components, level: number) => {
    for (const component of list) {
      count++;
      depth = Math.max(depth, level);
      walk(childrenOf(component), level + 1);
    }
  };
  walk(roots, 1);
  return { count, depth };
}
