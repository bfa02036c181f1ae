import { type Components, childrenOf, idOf, sizeOf } from '../../crm/site/components.ts';
import { cutText, mapTexts } from '../../crm/wire/short-text.ts';
import { isJsonObject, type JsonObject, type JsonValue, jsonBytes } from '../../kernel/json.ts';
import { countFitting } from './page.ts';

/** Maximum text length and levels of children; the first combination that fits is used. */
const detailLevels = [
  { text: Number.POSITIVE_INFINITY, levels: Number.POSITIVE_INFINITY },
  { text: 2_000, levels: Number.POSITIVE_INFINITY },
  { text: 300, levels: Number.POSITIVE_INFINITY },
  { text: 300, levels: 3 },
  { text: 100, levels: 1 },
  { text: 100, levels: 0 },
] as const;

/** Shortens components to fit into an answer. @returns `{components}`, with a hint if something was omitted */
export function outline(components: Components, bytes: number): JsonObject {
  for (const { text, levels } of detailLevels) {
    const shown = components.map((component) => shorten(component, text, levels));
    if (jsonBytes(shown) > bytes) continue;
    const isWhole = text === Number.POSITIVE_INFINITY;
    return { components: shown, ...(!isWhole && { truncated: true, hint: HINT }) };
  }
  const names = components.map((component, index) => ({
    path: idOf(component) ?? String(index),
    components: sizeOf([component]).count,
  }));
  return { components: names.slice(0, countFitting(names, bytes)), truncated: true, hint: HINT };
}

const HINT =
  'Texts are cut and children left out where the page is too large: name one component by path to see the whole of it.';

function shorten(component: JsonValue, maxLength: number, levels: number): JsonValue {
  const cut = (value: JsonValue) =>
    maxLength === Number.POSITIVE_INFINITY ? value : mapTexts(value, (text) => cutText(text, maxLength));
  if (!isJsonObject(component)) return cut(component);
  const { children, ...own } = component;
  const shown = cut(own) as JsonObject;
  if (!Array.isArray(children)) return children === undefined ? shown : { ...shown, children: cut(children) };
  if (levels > 0) return { ...shown, children: children.map((child) => shorten(child, maxLength, levels - 1)) };
  return { ...shown, children: `${sizeOf(childrenOf(component)).count} components` };
}
