import { isJsonObject, type JsonObject, type JsonValue, jsonBytes, own } from '../../kernel/json.ts';
import type { CrmContext } from '../context.ts';
import { idsFound } from '../queries/existing-ids.ts';
import { badArguments } from '../refusals.ts';
import { isMenuUrl } from './urls.ts';
import { PAGES } from './versions.ts';

export const MAX_ITEMS = 500;
const MAX_LEVELS = 5;
const MAX_BYTES = 50_000;

const FORM = 'items: [{label, pageId or url, children?}]; a url is http(s), mailto, tel, or a path that begins with /';

/** The contents of a menu, one line per entry. */
export interface ReadMenu {
  /** Of all levels. */
  readonly entries: readonly string[];
  readonly pageIds: ReadonlySet<string>;
}

/** Parses the items of a menu; unknown keys of an item are accepted. @throws invalidArguments (107) */
export function readMenu(items: readonly JsonObject[]): ReadMenu {
  const entries: string[] = [];
  const pageIds = new Set<string>();
  const read = (item: JsonValue, place: string, level: number): void => {
    if (!isJsonObject(item)) wrong(`${place} must be an object`);
    if (level > MAX_LEVELS) wrong(`${place} is deeper than ${MAX_LEVELS} levels`);
    const { label, pageId, url, children } = item;
    if (typeof label !== 'string' || label.trim() === '' || label.length > 200)
      wrong(`${place}.label must be a text of 1 to 200 characters`);
    if (isThere(pageId) && isThere(url)) wrong(`${place} has both pageId and url`);
    if (!isThere(pageId) && !isThere(url) && !isThere(children)) wrong(`${place} needs pageId, url or children`);
    if (isThere(pageId)) pageIds.add(typeof pageId === 'string' ? pageId : wrong(`${place}.pageId must be a text`));
    if (isThere(url) && (typeof url !== 'string' || !isMenuUrl(url))) wrong(`${place}.url is not allowed`);
    entries.push(entryOf(item));
    if (entries.length > MAX_ITEMS) wrong(`items must have at most ${MAX_ITEMS} entries, all levels together`);
    if (!isThere(children)) return;
    if (!Array.isArray(children)) wrong(`${place}.children must be a list`);
    for (const [index, child] of children.entries()) read(child, `${place}.children[${index}]`, level + 1);
  };
  for (const [index, item] of items.entries()) read(item, `items[${index}]`, 1);
  if (jsonBytes(items) > MAX_BYTES) wrong(`items must have at most ${MAX_BYTES} bytes`);
  return { entries, pageIds };
}

const isThere = (value: JsonValue | undefined): value is JsonValue => value !== undefined && value !== null;

function wrong(why: string): never {
  badArguments(why, { expected: FORM, next: 'Get-Site-Pages with menus' });
}

/** `label → target`. */
const entryOf = (item: JsonObject): string => `${own(item, 'label')} → ${own(item, 'pageId') ?? own(item, 'url') ?? ''}`;

/** Returns the entries of a stored menu; malformed items are skipped. */
export function storedEntries(items: JsonValue | undefined): string[] {
  if (!Array.isArray(items)) return [];
  return items.flatMap((item) => (isJsonObject(item) ? [entryOf(item), ...storedEntries(own(item, 'children'))] : []));
}

/** Checks that pages exist. @throws invalidArguments (107) for a page that the caller may not find */
export async function requirePages(context: CrmContext, pageIds: ReadonlySet<string>): Promise<void> {
  const known = await idsFound(context, PAGES, pageIds);
  const missing = [...pageIds].filter((id) => !known.has(id));
  if (missing.length > 0)
    badArguments(`items: there is no page ${missing.slice(0, 10).join(', ').slice(0, 300)}`, { next: 'Get-Site-Pages' });
}
