import type { JsonObject } from '../../../kernel/json.ts';
import { bytesOf } from './bytes.ts';

/**
 * Maps of texts, or of maps of these, as far as they fit; `truncated` names the parts that are cut.
 * @param parts those that come first are cut last
 */
export function withinBytes(parts: Readonly<Record<string, JsonObject>>, bytes: number): JsonObject {
  let left = bytes - JSON.stringify(Object.keys(parts)).length * 2;
  const truncated: string[] = [];
  const shown = Object.entries(parts).map(([name, part]): [string, JsonObject] => {
    const entries = Object.entries(part);
    let count = 0;
    for (const entry of entries) {
      left -= bytesOf(entry) + 1;
      if (left < 0) break;
      count++;
    }
    if (count < entries.length) truncated.push(name);
    return [name, Object.fromEntries(entries.slice(0, count))];
  });
  return { ...Object.fromEntries(shown), ...(truncated.length > 0 && { truncated }) };
}
