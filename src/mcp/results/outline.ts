import { type Components, childrenOf, idOf, sizeOf } from '../../crm/site/components.ts';
import { cutText, mapTexts } from '../../crm/wire/short-text.ts';
import { isJsonObject, type JsonObject, type JsonValue, jsonBytes } from '../../kernel/json.ts';
import { fit } from './page.ts';

/** So much of each text, and so many levels of children; the first that fits is shown. */
const attempts = [
  { text: Number.POSITIVE_INFINITY, levels: Number.POSITIVE_INFINITY },
  { text: 2_000, levels: Number.POSITIVE_INFINITY },
  { text: 300, levels: Number.POSITIVE_INFINITY },
  { text: 300, levels: 3 },
  { text: 100, levels: 1 },
  { text: 100, levels: 0 },
] as const;

/**
 * Components as fully as an answer takes.
 * @returns `{components}`, with a hint where something of them is left out
 */
export function outline(components: Components, bytes: number): JsonObject {
  for (const { text, levels } of attempts) {
    const shown = components.map((component) => shorten(component, text, levels));
    if (jsonBytes(shown) > bytes) continue;
    const isWhole = text === Number.POSITIVE_INFINITY;
    return { components: shown, ...(!isWhole && { truncated: true, hint: HINT }) };
  }
  const names = components.map((component, index) => ({
    path: idOf(component) ?? String(index),
    components: sizeOf([component]).count,
  }));
  return { components: names.slice(0, fit(names, bytes)), truncated: true, hint: HINT };
}

const HINT =
  'Texts are cut and children left out where the page is too large: name one component by path to see the whole of it.';

function shorten(component: JsonValue, most: number, levels: number): JsonValue {
  const cut = (value: JsonValue) => (most === Number.POSITIVE_INFINITY ? value : mapTexts(value, (text) => cutText(text, most)));
  if (!isJsonObject(component)) return cut(component);
  const { children, ...own } = component;
  const shown = cut(own) as JsonObject;
  if (!Array.isArray(children)) return children === undefined ? shown : { ...shown, children: cut(children) };
  if (levels > 0) return { ...shown, children: children.map((child) => shorten(child, most, levels - 1)) };
  return { ...shown, children: `${sizeOf(childrenOf(component)).count} components` };
}
