import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import { type Components, idOf } from './components.ts';
import { isDisplayKey, termReplacer } from './display-text.ts';

/** Result of replacing terms in a page. */
export interface Replaced {
  /** Changed fields of the page. */
  readonly data: JsonObject;
  /** Places of replacements, such as `hero/button1.text (2)`. */
  readonly places: readonly string[];
  /** Number of replacements by term, if any. */
  readonly byTerm: ReadonlyMap<string, number>;
  /** Number of occurrences by word that is a term with Hebrew prefixes and stays. */
  readonly left: ReadonlyMap<string, number>;
  /** Places of these words. */
  readonly leftPlaces: readonly string[];
}

/**
 * Replaces terms in the displayed texts of a page. Pure.
 * @param own texts of the page itself
 * @param terms without those that stand for themselves
 */
export function replaceInPage(
  own: ReadonlyMap<string, string>,
  components: Components,
  terms: ReadonlyMap<string, string>,
): Replaced {
  const byTerm = new Map<string, number>();
  const left = new Map<string, number>();
  const places: string[] = [];
  const leftPlaces: string[] = [];
  let count = 0;
  let leftCount = 0;
  const replace = termReplacer(terms, {
    found(term) {
      count++;
      byTerm.set(term, (byTerm.get(term) ?? 0) + 1);
    },
    left(word) {
      leftCount++;
      left.set(word, (left.get(word) ?? 0) + 1);
    },
  });
  const change = (text: string, place: string): string => {
    const [before, leftBefore] = [count, leftCount];
    const changed = replace(text);
    const short = place.replace(/^\//, '').slice(0, 300);
    if (count > before) places.push(`${short} (${count - before})`);
    if (leftCount > leftBefore) leftPlaces.push(`${short} (${leftCount - leftBefore})`);
    return changed;
  };
  /** Texts inside a list count under the list's key. */
  const walk = (value: JsonValue, key: string, place: string): JsonValue => {
    if (typeof value === 'string') return isDisplayKey(key) ? change(value, place) : value;
    if (Array.isArray(value)) return value.map((item, index) => walk(item, key, `${place}${placeOf(item, index)}`));
    if (!isJsonObject(value)) return value;
    const entries = Object.entries(value).map(([name, inner]): [string, JsonValue] => [
      name,
      walk(inner, name, name === 'children' ? place : `${place}.${name}`),
    ]);
    return Object.fromEntries(entries);
  };
  const changedOwn = [...own].map(([name, text]): [string, string] => [name, change(text, name)]);
  const data: JsonObject = Object.fromEntries(changedOwn.filter(([name, text]) => text !== own.get(name)));
  const before = count;
  const changed = walk(components, '', '');
  return {
    data: count > before ? { ...data, Components: changed } : data,
    places,
    byTerm,
    left,
    leftPlaces,
  };
}

const placeOf = (item: JsonValue, index: number): string => `/${idOf(item) ?? index}`;
