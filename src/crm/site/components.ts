import { isJsonObject, type JsonValue, own } from '../../kernel/json.ts';

/** A page's components: `{_id, type, …, children?}`. Stored pages may hold other values, which are ignored. */
export type Components = JsonValue[];

/** The position of a component. */
export interface ComponentPlace {
  readonly component: JsonValue;
  /** The list that contains it. */
  readonly list: Components;
  readonly index: number;
  /** `_id`s from the top separated by slashes; the index for a component without one. */
  readonly path: string;
}

/** Returns the components of a page; empty if there are none. */
export const componentsOf = (value: JsonValue | undefined): Components => (Array.isArray(value) ? value : []);

/** Returns the list of children itself; a new empty list if there is none. */
export const childrenOf = (component: JsonValue): Components =>
  isJsonObject(component) ? componentsOf(own(component, 'children')) : [];

export const idOf = (component: JsonValue): string | undefined => {
  const id = isJsonObject(component) ? own(component, '_id') : undefined;
  return typeof id === 'string' && id !== '' ? id : undefined;
};

const placeIn = (list: Components, index: number, base: string): ComponentPlace => {
  const component = list[index] as JsonValue;
  return { component, list, index, path: `${base === '' ? '' : `${base}/`}${idOf(component) ?? index}` };
};

/** Iterates over all components, parents before children. */
export function* everyComponent(list: Components, base = ''): Generator<ComponentPlace> {
  for (let index = 0; index < list.length; index++) {
    const place = placeIn(list, index, base);
    yield place;
    yield* everyComponent(childrenOf(place.component), place.path);
  }
}

/**
 * Returns the component at a path of `_id`s or indexes separated by slashes. A path that begins with an `_id` finds it at any depth.
 * @returns `undefined` if there is none
 */
export function findComponent(roots: Components, path: string): ComponentPlace | undefined {
  const [first = '', ...rest] = path.split('/');
  let place = step(roots, first, '') ?? anywhere(roots, first);
  for (const segment of rest) {
    if (!place) return undefined;
    place = step(childrenOf(place.component), segment, place.path);
  }
  return place;
}

function step(list: Components, segment: string, base: string): ComponentPlace | undefined {
  const named = list.findIndex((component) => idOf(component) === segment);
  const index = named < 0 && /^\d{1,6}$/.test(segment) ? Number(segment) : named;
  return index >= 0 && index < list.length ? placeIn(list, index, base) : undefined;
}

function anywhere(roots: Components, id: string): ComponentPlace | undefined {
  for (const place of everyComponent(roots)) if (idOf(place.component) === id) return place;
  return undefined;
}

/** Returns the number of components and levels. */
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
