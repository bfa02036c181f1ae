/** Places inside an Object, by their segments; `null` for a place that is selected whole. */
export type PlaceTree = Map<string, PlaceTree | null>;

/**
 * Builds a tree of places, so that work on a value does not grow with the number of places that share a prefix. A place includes all places below it.
 */
export function placeTreeOf(paths: readonly (readonly string[])[]): PlaceTree {
  const tree: PlaceTree = new Map();
  for (const path of paths) {
    let at = tree;
    for (const [level, segment] of path.entries()) {
      const below = at.get(segment);
      if (below === null) break;
      const isEnd = level === path.length - 1;
      const next = isEnd ? null : (below ?? new Map());
      at.set(segment, next);
      if (next === null) break;
      at = next;
    }
  }
  return tree;
}
